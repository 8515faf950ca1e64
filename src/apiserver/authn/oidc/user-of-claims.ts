import { goQuote } from '#machinery';
import { CREDENTIAL_ID, type UserInfo } from '../../request/user.ts';
import type { ClaimValidationRule, Expression, JwtConfiguration, Mapping, ValidationRule } from './jwt-configuration.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Maps claims to a user. Throws in upstream's words when a rule rejects them. */
export function userOfClaims(claims: Claims, configuration: JwtConfiguration): UserInfo {
  const { claimMappings, claimValidationRules, userValidationRules } = configuration;
  const uid = claimMappings.uid && text('uid', claims, claimMappings.uid);
  const extra = extraOf(claims, claimMappings.extra);
  const user: UserInfo = {
    name: usernameOf(claims, claimMappings.username),
    ...(uid && { uid }),
    groups: claimMappings.groups === undefined ? [] : groupsOf(claims, claimMappings.groups),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
  for (const rule of claimValidationRules) checkClaims(claims, rule);
  for (const rule of userValidationRules) checkRule(rule, userVariable(user), 'error evaluating user info validation rule');
  return user;
}

function usernameOf(claims: Claims, mapping: Mapping): string {
  if ('claim' in mapping && mapping.claim === 'email' && 'email_verified' in claims && claims.email_verified !== true)
    throw new Error('oidc: email not verified');
  const name = text('username', claims, mapping);
  if (name === '') throw new Error('oidc: empty username via CEL expression is not allowed');
  return name;
}

function text(claimKind: string, claims: Claims, mapping: Mapping): string {
  if ('expression' in mapping) {
    const value = evaluated(mapping.expression, claims, `error evaluating ${claimKind} claim expression`);
    if (typeof value === 'string') return value;
    throw new Error(`oidc: error evaluating ${claimKind} claim expression: ${claimKind} claim expression must return a string`);
  }
  const { claim, prefix } = mapping;
  if (!Object.hasOwn(claims, claim)) throw new Error(`oidc: parse ${claimKind} claims ${goQuote(claim)}: claim not present`);
  const value = claims[claim];
  if (typeof value !== 'string') throw new Error(`oidc: parse ${claimKind} claims ${goQuote(claim)}: it is no string`);
  return prefix + value;
}

/** The claim may be a string or a list; absent: no groups. */
function groupsOf(claims: Claims, mapping: Mapping): readonly string[] {
  if ('expression' in mapping) return strings(evaluated(mapping.expression, claims, GROUP_ERROR), GROUP_ERROR);
  const { claim, prefix } = mapping;
  if (!Object.hasOwn(claims, claim)) return [];
  return strings(claims[claim], `parse groups claim ${goQuote(claim)}`).map((group) => prefix + group);
}

const GROUP_ERROR = 'error evaluating group claim expression';

function extraOf(claims: Claims, mappings: JwtConfiguration['claimMappings']['extra']): Readonly<Record<string, readonly string[]>> {
  const extra = new Map<string, readonly string[]>();
  if (typeof claims.jti === 'string' && claims.jti !== '') extra.set(CREDENTIAL_ID, [`JTI=${claims.jti}`]);
  for (const { key, value } of mappings) {
    const error = `error evaluating extra claim expression: ${value.text}`;
    const values = strings(evaluated(value, claims, error), error);
    if (values.length > 0) extra.set(key, values);
  }
  return Object.fromEntries(extra);
}

/** null, a string or a list; empty strings are dropped. */
function strings(value: unknown, error: string): readonly string[] {
  if (value === null || value === undefined || value === '') return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.filter((item) => item !== '');
  throw new Error(`oidc: ${error}: expression must return a string or a list of strings`);
}

function checkClaims(claims: Claims, rule: ClaimValidationRule): void {
  if ('expression' in rule) {
    checkRule(rule, claims, 'error evaluating claim validation expression');
    return;
  }
  const { claim, requiredValue } = rule;
  if (!Object.hasOwn(claims, claim)) throw new Error(`oidc: required claim ${claim} not present in ID token`);
  const value = claims[claim];
  if (typeof value !== 'string') throw new Error(`oidc: parse claim ${claim}: it is no string`);
  if (value !== requiredValue)
    throw new Error(`oidc: required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`);
}

function checkRule({ expression, message }: ValidationRule, variable: unknown, error: string): void {
  if (evaluated(expression, variable, error) === true) return;
  throw new Error(
    `oidc: ${error}: ${message === '' ? `validation expression '${expression.text}' failed` : `validation expression '${expression.text}' failed: ${message}`}`,
  );
}

function evaluated(expression: Expression, variable: unknown, error: string): unknown {
  try {
    return expression.evaluate(variable);
  } catch (cause) {
    throw new Error(`oidc: ${error}: expression '${expression.text}' resulted in error: ${(cause as Error).message}`, { cause });
  }
}

function userVariable({ name, uid = '', groups, extra = {} }: UserInfo): object {
  return { username: name, uid, groups, extra };
}
