import { type resource, sameValue } from '#api';
import { compareBytes, FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import type { UserInfo } from '../../request/user.ts';

type Claim = resource.ResourceClaim;

/** A permission on a part of a claim, granted like a subresource. */
export interface ClaimPermission {
  readonly verb: string;
  readonly subresource: 'binding' | 'driver';
  readonly namespace: string;
  readonly name: string;
}

/** A requirement of a claim status change: any one of some permissions. */
export interface ClaimRequirement {
  readonly anyOf: readonly ClaimPermission[];
  /** The error without the permission; `reason` is the first denial. */
  readonly deniedError: (reason: string) => FieldError;
}

interface Caller {
  readonly user: UserInfo;
  readonly verb: string;
}

const ALLOCATION = Path.of('status', 'allocation');
const DEVICES = Path.of('status', 'devices');
const SERVICE_ACCOUNT = 'system:serviceaccount:';
const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';

/** Schedulers bind claims, drivers report on their own devices: access to status does not imply both. */
export function claimStatusRequirements(claim: Claim, old: Claim, caller: Caller): readonly ClaimRequirement[] {
  return [...bindingRequirement(claim, old, caller), ...driverRequirements(claim, old, caller)];
}

function bindingRequirement({ status }: Claim, old: Claim, { verb }: Caller): readonly ClaimRequirement[] {
  if (sameValue(status?.allocation, old.status?.allocation) && sameValue(status?.reservedFor, old.status?.reservedFor)) return [];
  const requirement = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`;
  return [
    {
      anyOf: [{ verb, subresource: 'binding', namespace: '', name: '' }],
      deniedError: (reason) => FieldError.forbidden(ALLOCATION, `${requirement}: ${reason}`),
    },
  ];
}

function driverRequirements(claim: Claim, old: Claim, { user, verb }: Caller): readonly ClaimRequirement[] {
  if (!claim.status?.allocation) return [];
  const arbitrary = `arbitrary-node:${verb}`;
  const verbs = isOnNodeOf(user, claim.status.allocation) ? [`associated-node:${verb}`, arbitrary] : [arbitrary];
  const namespace = claim.metadata.namespace ?? '';
  const requirement = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`;
  return changedDrivers(claim, old).map((name) => ({
    anyOf: verbs.map((verb) => ({ verb, subresource: 'driver', namespace, name })),
    deniedError: (reason) => FieldError.forbidden(DEVICES, `${requirement}: ${reason}`),
  }));
}

function changedDrivers({ status }: Claim, old: Claim): readonly string[] {
  const before = old.status?.devices ?? [];
  const after = status?.devices ?? [];
  const isIn = (device: resource.AllocatedDeviceStatus, devices: readonly resource.AllocatedDeviceStatus[]) =>
    devices.some((candidate) => sameValue(candidate, device));
  const changed = [...after.filter((device) => !isIn(device, before)), ...before.filter((device) => !isIn(device, after))];
  return [...new Set(changed.map(({ driver }) => driver ?? ''))].sort(compareBytes);
}

function isOnNodeOf({ name: username, extra }: UserInfo, { nodeSelector }: resource.AllocationResult): boolean {
  const nodes = extra?.[NODE_NAME_KEY] ?? [];
  const [node = ''] = nodes;
  const isAccount = username.startsWith(SERVICE_ACCOUNT) && username.split(':').length === 4;
  return isAccount && nodes.length === 1 && nameIsDnsSubdomain(node, false).length === 0 && node === onlyNode(nodeSelector);
}

/** The node of an allocation that is bound to one by name. */
function onlyNode(selector: resource.AllocationResult['nodeSelector']): string | undefined {
  const [term, ...others] = selector?.nodeSelectorTerms ?? [];
  const [field, ...rest] = term?.matchFields ?? [];
  if (others.length > 0 || rest.length > 0 || term?.matchExpressions?.length) return undefined;
  const isName = field?.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1;
  return isName ? field.values?.[0] : undefined;
}
