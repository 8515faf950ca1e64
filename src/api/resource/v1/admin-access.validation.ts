import { FieldError, Path } from '#machinery';
import type { ResourceClaim } from './resource-claim.ts';
import type { ResourceClaimSpec } from './resource-claim-spec.ts';

/** Only namespaces with this label set to `true` may use admin access. */
export const ADMIN_NAMESPACE_LABEL = 'resource.kubernetes.io/admin-access';

type Labels = Readonly<Record<string, string>>;

/** Whether a new claim or template may request admin access in a namespace with these labels. */
export function validateAdminAccess(spec: ResourceClaimSpec | undefined, labels: Labels = {}): FieldError[] {
  const index = (spec?.devices?.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess);
  return index === -1 ? [] : requireAdminLabel(Path.of('spec', 'devices', 'requests').index(index).child('adminAccess'), labels);
}

/** The same for allocations, unless they existed before: an allocation is immutable. */
export function validateAllocatedAdminAccess(claim: ResourceClaim, old: ResourceClaim, labels: Labels = {}): FieldError[] {
  if (allocatedAccess(old) !== -1) return [];
  const allocated = allocatedAccess(claim);
  return allocated === -1
    ? []
    : requireAdminLabel(Path.of('status', 'allocation', 'devices', 'results').index(allocated).child('adminAccess'), labels);
}

function allocatedAccess({ status }: ResourceClaim): number {
  return (status?.allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess);
}

function requireAdminLabel(path: Path, labels: Labels): FieldError[] {
  if (labels[ADMIN_NAMESPACE_LABEL] === 'true') return [];
  const detail = `admin access to devices requires the \`${ADMIN_NAMESPACE_LABEL}: true\` label on the containing namespace`;
  return [FieldError.forbidden(path, detail)];
}
