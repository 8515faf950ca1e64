import { authentication } from '#api';
import { cel } from '#machinery';
import type { Expression } from './jwt-configuration.ts';

const USER_TYPE = cel.apiType(authentication.UserInfo, 'kubernetes.UserInfo') ?? cel.DYN;
const STRINGS = [cel.STRING, cel.listType(cel.STRING), cel.NULL, cel.DYN, cel.listType(cel.DYN)];

/** Allowed result types. */
export const CLAIM_RESULTS = { bool: [cel.BOOL], string: [cel.STRING, cel.DYN], strings: STRINGS } as const;

/** An expression over `claims`. Throws on compile errors. */
export function claimsExpression(text: string, results: readonly cel.CelType[]): Expression {
  return compiled(text, { claims: cel.mapType(cel.STRING, cel.DYN) }, results);
}

/** An expression over `user`. */
export function userExpression(text: string): Expression {
  return compiled(text, { user: USER_TYPE }, CLAIM_RESULTS.bool);
}

function compiled(text: string, variables: Readonly<Record<string, cel.CelType>>, resultTypes: readonly cel.CelType[]): Expression {
  const result = cel.compile(text, { variables, resultTypes });
  if (!result.ok) throw new Error(`compilation failed: ${result.message}`);
  const [name] = Object.keys(variables);
  const { program } = result;
  return {
    text,
    evaluate(variable) {
      const outcome = program.run({ [name!]: variable }, { costLimit: cel.PER_CALL_LIMIT });
      if (outcome.error !== undefined) throw outcome.error;
      return cel.toJson(outcome.value);
    },
  };
}
