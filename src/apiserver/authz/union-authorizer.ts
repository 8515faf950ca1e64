import { isPromise } from '#base';
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from './authorizer.ts';
import { aggregate } from './rbac/rbac-authorizer.ts';

/** Asks each authorizer in order until one allows or denies. If none does, the reasons are joined. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (attributes) => ask(authorizers, 0, { attributes, reasons: [], errors: [] }),
    async rulesFor(user, namespace) {
      return combined(await Promise.all(authorizers.map((authorizer) => authorizer.rulesFor(user, namespace))));
    },
  };
}

interface Authorization {
  readonly attributes: AuthorizationAttributes;
  readonly reasons: string[];
  readonly errors: string[];
}

function ask(authorizers: readonly Authorizer[], from: number, question: Authorization): Decision | Promise<Decision> {
  for (let i = from; i < authorizers.length; i++) {
    const answer = authorizers[i]!.authorize(question.attributes);
    if (isPromise(answer)) return answer.then((decision) => settle(decision, question) ?? ask(authorizers, i + 1, question));
    const settled = settle(answer, question);
    if (settled !== undefined) return settled;
  }
  const { reasons, errors } = question;
  return { verdict: 'no opinion', reason: reasons.join('\n'), ...(errors.length > 0 && { error: aggregate(errors) }) };
}

function settle(decision: Decision, { reasons, errors }: Authorization): Decision | undefined {
  if (decision.verdict !== 'no opinion') return decision;
  if (decision.reason !== '') reasons.push(decision.reason);
  if (decision.error !== undefined) errors.push(decision.error);
  return undefined;
}

function combined(parts: readonly ResolvedRules[]): ResolvedRules {
  const errors = parts.flatMap(({ evaluationError }) => (evaluationError === undefined ? [] : [evaluationError]));
  return {
    resourceRules: parts.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: parts.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: parts.some(({ incomplete }) => incomplete),
    ...(errors.length > 0 && { evaluationError: aggregate(errors) }),
  };
}
