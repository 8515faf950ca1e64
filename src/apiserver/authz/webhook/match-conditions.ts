import { authorization } from '#api';
import { cel } from '#machinery';

/** A condition for calling the webhook. */
export interface MatchCondition {
  readonly text: string;
  /** Throws when the expression cannot be evaluated. */
  matches(spec: unknown): boolean;
}

export type MatchConditions = readonly MatchCondition[];

const REQUEST_TYPE = cel.apiType(authorization.SubjectAccessReviewSpec, 'kubernetes.SubjectAccessReviewSpec') ?? cel.DYN;

/** An expression over `request`, the SubjectAccessReviewSpec. Throws on compile errors. */
export function matchCondition(text: string): MatchCondition {
  const result = cel.compile(text, { variables: { request: REQUEST_TYPE }, resultTypes: [cel.BOOL] });
  if (!result.ok) throw new Error(`compilation failed: ${result.message}`);
  const { program } = result;
  return {
    text,
    matches(request) {
      const outcome = program.run({ request }, { costLimit: cel.PER_CALL_LIMIT });
      if (outcome.error !== undefined)
        throw new Error(`cel evaluation error: expression '${text}' resulted in error: ${outcome.error.message}`);
      return outcome.value === true;
    },
  };
}
