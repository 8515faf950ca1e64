import { checkDns1123Label, checkDns1123Subdomain } from '#machinery';
import { sameValue } from '../../field-checks.ts';
import type { FieldReport } from '../../field-report.ts';
import type { PodGroupResourceClaim, PodGroupSchedulingPolicy } from './pod-group-policy.ts';

const MAX_CLAIMS = 4;

/** Exactly one member must be set, as in upstream's unions. */
export function validateUnion(value: Readonly<Record<string, unknown>>, members: readonly string[], at: FieldReport): void {
  const present = members.filter((member) => value[member] !== undefined && value[member] !== null);
  const quoted = members.map((member) => `\`${member}\``).join(', ');
  if (present.length === 0) at.invalid('', `must specify one of: ${quoted}`);
  else if (present.length > 1) {
    const names = present.map((member) => `\`${member}\``).join(', ');
    at.invalid(`{${names}}`, `must specify exactly one of: ${quoted}`);
  }
}

export function validateSchedulingPolicy(policy: PodGroupSchedulingPolicy, at: FieldReport): void {
  validateUnion(policy, ['basic', 'gang'], at);
  const minCount = policy.gang?.minCount ?? 0;
  if (!policy.gang) return;
  const count = at.child('gang').child('minCount');
  if (minCount === 0) count.required();
  else if (minCount < 0) count.invalid(minCount, 'must be greater than or equal to 1');
}

export function validateResourceClaims(claims: readonly PodGroupResourceClaim[], at: FieldReport): void {
  if (claims.length > MAX_CLAIMS) {
    at.tooMany(claims.length, MAX_CLAIMS);
    return;
  }
  reportRepeatedNames(claims, at);
  for (const [i, claim] of claims.entries()) {
    const item = at.index(i);
    validateUnion(claim, ['resourceClaimName', 'resourceClaimTemplateName'], item);
    requiredShortName(claim.name, item.child('name'));
    const { resourceClaimName, resourceClaimTemplateName } = claim;
    if (resourceClaimName !== undefined) longName(resourceClaimName, item.child('resourceClaimName'));
    if (resourceClaimTemplateName !== undefined) longName(resourceClaimTemplateName, item.child('resourceClaimTemplateName'));
  }
}

export function reportRepeatedNames(items: readonly { readonly name?: string }[], at: FieldReport): void {
  const seen = new Set<string | undefined>();
  for (const [i, item] of items.entries()) {
    if (seen.has(item.name)) at.index(i).duplicate(item);
    seen.add(item.name);
  }
}

export function requiredShortName(name: string | undefined, at: FieldReport): void {
  if (name) at.problems(name, checkDns1123Label(name));
  else at.required();
}

export function requiredLongName(name: string | undefined, at: FieldReport): void {
  if (name) longName(name, at);
  else at.required();
}

function longName(name: string, at: FieldReport): void {
  at.problems(name, checkDns1123Subdomain(name));
}

/** An immutable field. Upstream's declarative validation does not print the value. */
export function reportChange(value: unknown, old: unknown, at: FieldReport): boolean {
  if (sameValue(value, old)) return false;
  at.invalid(null, 'field is immutable');
  return true;
}
