import { isPromise } from '#base';
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from './authorizer.ts';
import { aggregate } from './rbac/rbac-authorizer.ts';

/** Asks each authorizer in order until one allows or denies. If none does, the reasons are joined. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (attributes) => authorizeFrom(authorizers, 0, { attributes, reasons: [], errors: [] }),
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

function authorizeFrom(authorizers: readonly Authorizer[], from: number, authorization: Authorization): Decision | Promise<Decision> {
  for (let i = from; i < authorizers.length; i++) {
    const decision = authorizers[i]!.authorize(authorization.attributes);
    if (isPromise(decision))
      return decision.then((decision) => settle(decision, authorization) ?? authorizeFrom(authorizers, i + 1, authorization));
    const settled = settle(decision, authorization);
    if (settled !== undefined) return settled;
  }
  const { reasons, errors } = authorization;
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
