import { parseIp } from '#base';
import { checkDns1123Label, checkLabelKey, checkUnixId, FieldError, nameIsDnsSubdomain, Path, Quantity } from '#machinery';
import { FieldReport } from '../../../field-report.ts';
import { goStruct } from '../../../go-struct.ts';
import { validateLegacyIp } from '../../../ip.validation.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import type { Container } from '../container/container.ts';
import { isNativeResource } from '../resource-list/resource-name.ts';
import {
  type ContainerStatus,
  HostIP,
  type NodeAllocatableResourceClaimStatus,
  type Pod,
  type PodExtendedResourceClaimStatus,
  PodIP,
  type PodStatus,
  type ResourceStatus,
} from './pod.ts';
import type { PodSpec } from './pod-spec.ts';
import { validateAnnotationUpdate } from './pod-update.validation.ts';

const SYSTEM_CONDITIONS = new Set(['PodScheduled', 'Ready', 'Initialized']);
const STATUS = Path.of('status');
const EMPTY_SPEC = {} as PodSpec;

export function validatePodStatusUpdate(pod: Pod, old: Pod): FieldError[] {
  const at = FieldReport.on(STATUS, validateObjectMetaUpdate(pod.metadata, old.metadata));
  const { spec = EMPTY_SPEC, status = {} } = pod;
  const oldStatus = old.status ?? {};
  validateAnnotationUpdate(pod, old, at);
  validateConditions(status, at.child('conditions'));
  validateNodes(pod, old, at);
  if ((status.observedGeneration ?? 0) < 0) {
    at.child('observedGeneration').invalid(status.observedGeneration, 'must be a non-negative integer');
  }
  if ((status.qosClass ?? '') !== (oldStatus.qosClass ?? '')) at.child('qosClass').invalid(status.qosClass ?? '', FIELD_IS_IMMUTABLE);
  validateTransitions(status, oldStatus, { at, spec: old.spec ?? EMPTY_SPEC });
  validateClaimStatuses(status, at, spec);
  validateAddresses(status.podIPs ?? [], at.child('podIPs'), { old: oldStatus.podIPs ?? [], schema: PodIP });
  validateHostIps(status, at.child('hostIPs'), oldStatus);
  validateContainerStatuses(status, at, spec);
  return at.errors;
}

function validateConditions({ conditions = [] }: PodStatus, at: FieldReport): void {
  conditions.forEach(({ type = '', observedGeneration = 0 }, i) => {
    if (observedGeneration < 0) at.index(i).child('observedGeneration').invalid(observedGeneration, 'must be a non-negative integer');
    if (!SYSTEM_CONDITIONS.has(type)) at.index(i).child('Type').problems(type, checkLabelKey(type));
  });
}

function validateNodes(pod: Pod, old: Pod, at: FieldReport): void {
  if ((pod.spec?.nodeName ?? '') !== (old.spec?.nodeName ?? '')) at.child('nodeName').forbidden('may not be changed directly');
  const nominated = pod.status?.nominatedNodeName;
  if (!nominated || nominated === old.status?.nominatedNodeName) return;
  at.child('nominatedNodeName').problems(nominated, nameIsDnsSubdomain(nominated, false));
  if (old.spec?.nodeName) at.child('nominatedNodeName').forbidden('may not be set on pods that are already bound to a node');
}

type StatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses';

/** A terminated container must stay so, unless restart policies allow a restart. */
function validateTransitions(status: PodStatus, old: PodStatus, { at, spec }: { at: FieldReport; spec: PodSpec }): void {
  const check = (list: StatusList, mayRestart: (name: string, exitCode: number) => boolean) => {
    const present = firstByName(status[list]);
    old[list]?.forEach(({ name, state }, i) => {
      if (!state?.terminated) return;
      const now = present.get(name);
      if (!now || now.state?.terminated || mayRestart(name, state.terminated.exitCode ?? 0)) return;
      at.child(list).index(i).child('state').forbidden('may not be transitioned to non-terminated state');
    });
  };
  if (!anyRestartsAll(spec)) {
    const containers = firstByName(spec.containers);
    const initContainers = firstByName(spec.initContainers);
    check('containerStatuses', (name, exitCode) => mayRestart(containers.get(name), exitCode, spec));
    check('initContainerStatuses', (name, exitCode) => mayRestart(initContainers.get(name), exitCode, spec));
  }
  check('ephemeralContainerStatuses', () => false);
}

function anyRestartsAll({ containers, initContainers }: PodSpec): boolean {
  return [...(initContainers ?? []), ...(containers ?? [])].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );
}

function firstByName<T extends { readonly name: string }>(items: readonly T[] | undefined | null): ReadonlyMap<string, T> {
  return new Map(items?.map((item): [string, T] => [item.name, item]).reverse());
}

function mayRestart(container: Container | undefined, exitCode: number, spec: PodSpec): boolean {
  if (!container) return false;
  if (container.restartPolicy !== undefined && ruleRestarts(container, exitCode)) return true;
  const policy = container.restartPolicy ?? spec.restartPolicy;
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

function ruleRestarts({ restartPolicyRules = [] }: Container, exitCode: number): boolean {
  const rule = restartPolicyRules.find(({ exitCodes }) => {
    const isListed = exitCodes?.values?.includes(exitCode) ?? false;
    return exitCodes?.operator === 'In' ? isListed : exitCodes?.operator === 'NotIn' && !isListed;
  });
  return rule?.action === 'Restart' || rule?.action === 'RestartAllContainers';
}

function validateClaimStatuses(status: PodStatus, at: FieldReport, spec: PodSpec): void {
  const names = new Set<string>();
  const claimNames = new Set(spec.resourceClaims?.map(({ name }) => name));
  status.resourceClaimStatuses?.forEach(({ name, resourceClaimName }, i) => {
    const field = at.child('resourceClaimStatuses').index(i);
    if (!claimNames.has(name)) field.child('name').invalid(name, 'must match the name of an entry in `spec.resourceClaims`');
    if (names.has(name)) field.child('name').duplicate(name);
    names.add(name);
    if (resourceClaimName === undefined) return;
    field.child('resourceClaimName').problems(resourceClaimName, nameIsDnsSubdomain(resourceClaimName, false));
  });
  const extended = status.extendedResourceClaimStatus;
  if (extended) validateExtendedClaim(extended, at.child('extendedResourceClaimStatus'), spec);
  const refs = [...(spec.resourceClaims ?? []), ...(status.resourceClaimStatuses ?? [])];
  const referenced = new Set(refs.map(({ resourceClaimName }) => resourceClaimName).filter((name) => name !== undefined));
  status.nodeAllocatableResourceClaimStatuses?.forEach((claim, i) => {
    const isReferenced = claim.resourceClaimName !== undefined && referenced.has(claim.resourceClaimName);
    validateAllocatableClaim(claim, at.child('nodeAllocatableResourceClaimStatuses').index(i), isReferenced);
  });
}

function validateAllocatableClaim(claim: NodeAllocatableResourceClaimStatus, at: FieldReport, isReferenced: boolean): void {
  const { resourceClaimName = '', containers = [] } = claim;
  const resources = claim.resources ?? {};
  if (!resourceClaimName) at.child('resourceClaimName').required('must not be empty');
  if (!isReferenced) at.child('resourceClaimName').invalid(resourceClaimName, 'no mapping found in pod reference');
  if (containers.length === 0) at.child('containers').required('must not be empty');
  if (Object.keys(resources).length === 0) at.child('resources').required('must not be empty');
  for (const [name, text] of Object.entries(resources)) {
    const field = at.child('resources').key(name);
    if (!isNativeResource(name)) field.invalid(name, 'must be a node allocatable resource name');
    if (Quantity.parse(text).sign < 0) field.invalid(text, 'must be non-negative');
  }
}

function validateExtendedClaim(status: PodExtendedResourceClaimStatus, at: FieldReport, spec: PodSpec): void {
  const { resourceClaimName } = status;
  const requestMappings = status.requestMappings ?? [];
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  if (requestMappings.length === 0) at.child('requestMappings').required('at least one request mapping is required');
  const seen = new Set<string>();
  requestMappings.forEach(({ containerName = '', resourceName = '', requestName = '' }, i) => {
    const field = at.child('requestMappings').index(i);
    const container = containers.findLast(({ name }) => name === containerName);
    if (!container) {
      field
        .child('containerName')
        .invalid(containerName, 'must match the name of an entry in spec.initContainers.name or spec.containers.name');
    } else if (container.resources?.requests?.[resourceName] === undefined) {
      const detail =
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';
      field.child('resourceName').invalid(resourceName, detail);
    }
    at.child('requestName').problems(requestName, checkDns1123Label(requestName));
    const key = `${containerName}/${resourceName}/${requestName}`;
    if (seen.has(key)) {
      field.child('containerName').duplicate(containerName);
      field.child('resourceName').duplicate(resourceName);
      field.child('requestName').duplicate(requestName);
    }
    seen.add(key);
  });
  if (!resourceClaimName) at.child('resourceClaimName').required();
  else at.child('resourceClaimName').problems(resourceClaimName, nameIsDnsSubdomain(resourceClaimName, false));
}

interface Addresses {
  readonly old: readonly { readonly ip: string }[];
  readonly schema: typeof PodIP | typeof HostIP;
}

function validateAddresses(addresses: readonly { readonly ip: string }[], at: FieldReport, { old, schema }: Addresses): void {
  const oldIps = old.map(({ ip }) => ip);
  addresses.forEach(({ ip }, i) => {
    at.add(validateLegacyIp(at.index(i).path, ip ?? '', oldIps));
  });
  if (addresses.length <= 1) return;
  const families = addresses.map(({ ip }) => parseIp(ip ?? '')?.family);
  const wrong = families.indexOf(undefined);
  if (wrong >= 0) {
    const explanation = new Error(`failed to check for dual stack with error:invalid IP[${wrong}]: ${addresses[wrong]?.ip ?? ''}`);
    at.add([FieldError.internalError(at.path, explanation)]);
  } else if (addresses.length === 2 && families[0] !== families[1]) return;
  at.invalid(
    addresses.map((address) => goStruct(schema, address)),
    'may specify no more than one IP for each IP family',
  );
}

function validateHostIps({ hostIP, hostIPs = [] }: PodStatus, at: FieldReport, old: PodStatus): void {
  if (hostIPs.length === 0) return;
  const first = hostIPs[0]?.ip ?? '';
  if ((hostIP ?? '') !== first) at.index(0).child('ip').invalid(first, 'must be equal to `hostIP`');
  validateAddresses(hostIPs, at, { old: old.hostIPs ?? [], schema: HostIP });
}

function validateContainerStatuses(status: PodStatus, at: FieldReport, spec: PodSpec): void {
  const lists: readonly StatusList[] = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];
  for (const list of lists) {
    status[list]?.forEach(({ user }, i) => {
      if (user?.linux) validateUser(user.linux, at.child(list).index(i).child('user').child('linux'), spec);
    });
  }
  const { containers, initContainers } = spec;
  validateAllocatedStatuses(status.containerStatuses, at.child('containerStatuses'), containers);
  validateAllocatedStatuses(status.initContainerStatuses, at.child('initContainerStatuses'), initContainers);
  status.ephemeralContainerStatuses?.forEach(({ allocatedResourcesStatus = [] }, i) => {
    if (allocatedResourcesStatus.length === 0) return;
    at.child('ephemeralContainerStatuses')
      .index(i)
      .child('allocatedResourcesStatus')
      .forbidden('must not be specified in container status');
  });
}

interface LinuxUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups?: readonly number[];
}

function validateUser({ uid, gid, supplementalGroups = [] }: LinuxUser, at: FieldReport, { os }: PodSpec): void {
  if (os?.name === 'windows') {
    at.forbidden('cannot be set for a windows pod');
    return;
  }
  at.child('uid').problems(uid, checkUnixId(uid ?? 0));
  at.child('gid').problems(gid, checkUnixId(gid ?? 0));
  supplementalGroups.forEach((group, i) => {
    at.child('supplementalGroups').index(i).problems(group, checkUnixId(group));
  });
}

function validateAllocatedStatuses(
  statuses: readonly ContainerStatus[] = [],
  at: FieldReport,
  containers: readonly Container[] = [],
): void {
  const byName = firstByName(containers);
  statuses.forEach(({ name, allocatedResourcesStatus }, i) => {
    const container = byName.get(name);
    allocatedResourcesStatus?.forEach((allocated, j) => {
      const field = at.index(i).child('allocatedResourcesStatus').index(j);
      if (container) validateAllocatedName(allocated.name, field.child('name'), container);
      validateHealth(allocated, field.child('resources'));
    });
  });
}

function validateAllocatedName(name: string, at: FieldReport, { resources }: Container): void {
  if (!name.startsWith('claim:')) {
    if (resources?.requests?.[name] === undefined) at.invalid(name, "must match one of the container's resource requests");
    return;
  }
  const claims = (resources?.claims ?? []).map((claim) => `claim:${claim.name}${claim.request ? `/${claim.request}` : ''}`);
  const detail =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  if (!claims.includes(name)) at.invalid(name, detail);
}

const MAX_HEALTH_MESSAGE = 1024;

function validateHealth({ resources = [] }: ResourceStatus, at: FieldReport): void {
  const seen = new Set<string>();
  resources.forEach(({ resourceID, health, message }, i) => {
    const field = at.index(i);
    field.child('health').oneOf(health, ['Healthy', 'Unhealthy', 'Unknown']);
    if (message === '') field.child('message').required('must be non-empty if specified');
    else if (message !== undefined && Buffer.byteLength(message) > MAX_HEALTH_MESSAGE) field.child('message').tooLong(MAX_HEALTH_MESSAGE);
    if (seen.has(resourceID)) field.child('resourceID').duplicate(resourceID);
    seen.add(resourceID);
  });
}
