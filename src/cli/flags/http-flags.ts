import { type HttpPolicy, isTransportDirective, originPatternProblem } from '#apiserver';
import type { ApiServerSettings } from '#cluster';
import { type FlagTable, listValue, numberValue } from './flag-table.ts';

const MAX_GOAWAY_CHANCE = 0.02;

/** CORS, HSTS and connection flags. */
export const HTTP_FLAGS: FlagTable<ApiServerSettings> = {
  'cors-allowed-origins': {
    value: 'list',
    help: 'patterns of the origins of pages that may read answers, such as //example.com(:|$)',
    repeatable: true,
    apply: (s, value) =>
      withHttp(s, { allowedOrigins: [...(s.limits?.http?.allowedOrigins ?? []), ...listValue(value).map(originPattern)] }),
  },
  'goaway-chance': {
    value: 'number',
    help: 'the fraction of HTTP/2 requests after which the client is asked to reconnect, at most 0.02 (default 0)',
    apply: (s, value) => withHttp(s, { goAwayChance: chanceValue(value) }),
  },
  'strict-transport-security-directives': {
    value: 'list',
    help: 'what browsers are told of https: max-age=SECONDS, includeSubDomains, preload',
    repeatable: true,
    apply: (s, value) =>
      withHttp(s, { strictTransportSecurity: [...(s.limits?.http?.strictTransportSecurity ?? []), ...listValue(value).map(directive)] }),
  },
};

function withHttp(settings: ApiServerSettings, http: HttpPolicy): ApiServerSettings {
  return { ...settings, limits: { ...settings.limits, http: { ...settings.limits?.http, ...http } } };
}

function originPattern(text: string): string {
  const problem = originPatternProblem(text);
  if (problem !== undefined) throw new Error(`${JSON.stringify(text)}: ${problem}`);
  return text;
}

function directive(text: string): string {
  if (!isTransportDirective(text)) throw new Error(`${JSON.stringify(text)} is none of max-age=SECONDS, includeSubDomains, preload`);
  return text;
}

function chanceValue(text: string): number {
  const chance = numberValue(text);
  if (chance < 0 || chance > MAX_GOAWAY_CHANCE) throw new Error(`it must be between 0 and ${MAX_GOAWAY_CHANCE}`);
  return chance;
}
