import { canonicalTime, StatusError } from '#machinery';
import type { PodLogOptions } from './pod-log-options.ts';

/** Reads log options from a query, as the API server and kubelets do. Throws a 400 for values that do not parse. */
export function parsePodLogOptions(query: URLSearchParams): PodLogOptions {
  return {
    container: query.get('container') ?? '',
    ...numbersIn(query),
    ...textsIn(query),
    follow: flag(query, 'follow'),
    previous: flag(query, 'previous'),
    timestamps: flag(query, 'timestamps'),
    insecureSkipTLSVerifyBackend: flag(query, 'insecureSkipTLSVerifyBackend'),
  };
}

type Numbers = Pick<PodLogOptions, 'sinceSeconds' | 'tailLines' | 'limitBytes'>;

function numbersIn(query: URLSearchParams): Numbers {
  const names = (['sinceSeconds', 'tailLines', 'limitBytes'] as const).filter((name) => query.has(name));
  return Object.fromEntries(names.map((name) => [name, wholeNumber(query.get(name)!)]));
}

function textsIn(query: URLSearchParams): Pick<PodLogOptions, 'sinceTime' | 'stream'> {
  const [sinceTime, stream] = [time(query.get('sinceTime')), query.get('stream')];
  return { ...(sinceTime !== undefined && { sinceTime }), ...(stream !== null && { stream }) };
}

/** Upstream treats every value but these two as true, including the empty one. */
function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function wholeNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw StatusError.badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
}

function time(text: string | null): string | undefined {
  if (text === null || text === '' || text === 'null') return undefined;
  try {
    return canonicalTime(text);
  } catch (error) {
    throw StatusError.badRequest(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
