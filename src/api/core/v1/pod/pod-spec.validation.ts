import { checkDns1123Label, checkLabelKey, FieldError, inclusiveRangeText, nameIsDnsSubdomain, Path } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import { goStruct } from '../../../go-struct.ts';
import { validateLabels } from '../../../meta/v1/label.validation.ts';
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import type { Container } from '../container/container.ts';
import {
  type PodContext,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from '../container/container.validation.ts';
import { validateContainerResources, validatePodResources } from '../container/resource-requirements.validation.ts';
import { validateVolumes } from '../volume/volume.validation.ts';
import { validateAffinity } from './affinity.validation.ts';
import { MIRROR_POD_ANNOTATION } from './pod-annotations.ts';
import { validateDNSConfig, validateHostAliases, validateHostnameOverride } from './pod-dns.validation.ts';
import { validatePodOS } from './pod-os.validation.ts';
import { PodResourceClaim, type PodSpec } from './pod-spec.ts';
import { validatePodSecurityContext } from './security-context.validation.ts';
import { validateTolerations } from './toleration.validation.ts';
import { validateTopologySpread } from './topology-spread.validation.ts';
import { type ContainerVisitor, validateHostProcess } from './windows-options.validation.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];
const MAX_INT32 = 2 ** 31 - 1;

export interface PodSpecRules {
  /** The spec belongs to a pod, not to a template. */
  readonly isPod: boolean;
  readonly podMeta?: ObjectMeta;
}

const TEMPLATE: PodSpecRules = { isPod: false };

/** Validates a pod spec, in upstream's order of errors. */
export function validatePodSpec(spec: PodSpec, at: FieldReport, rules: PodSpecRules = TEMPLATE): void {
  if (spec.terminationGracePeriodSeconds === undefined) at.child('terminationGracePeriodSeconds').required();
  const context: PodContext = {
    spec,
    hostUsers: spec.hostUsers !== false,
    volumes: validateVolumes(spec.volumes ?? [], at.child('volumes'), rules),
    claimNames: new Set((spec.resourceClaims ?? []).map(({ name }) => name).filter(Boolean)),
  };
  if (spec.resourceClaims) validateResourceClaims(spec.resourceClaims, at.child('resourceClaims'), rules.podMeta);
  validateContainers(spec.containers ?? [], at.child('containers'), context);
  if (spec.initContainers) validateInitContainers(spec.initContainers, at.child('initContainers'), context);
  if (spec.ephemeralContainers) validateEphemeralContainers(spec.ephemeralContainers, at.child('ephemeralContainers'), context);
  if (spec.resources) validatePodResources(spec, at.child('resources'), context.claimNames);
  if (spec.hostNetwork) validateHostNetworkPorts(spec.containers ?? [], at.child('containers'), rules);
  validatePolicies(spec, at);
  if (spec.nodeSelector) at.add(validateLabels(spec.nodeSelector, at.child('nodeSelector').path));
  if (spec.securityContext) validatePodSecurityContext(spec.securityContext, at.child('securityContext'), spec);
  if (spec.affinity) validateAffinity(spec.affinity, at.child('affinity'));
  if (spec.dnsConfig || spec.dnsPolicy === 'None') validateDNSConfig(spec, at.child('dnsConfig'));
  validateGates(spec, at);
  if (spec.topologySpreadConstraints) validateTopologySpread(spec.topologySpreadConstraints, at.child('topologySpreadConstraints'));
  const visit = containersOf(spec, at);
  validateHostProcess(spec, at, visit);
  if (spec.hostUsers === false) validateUserNamespace(spec, at, visit);
  if (spec.hostnameOverride !== undefined) validateHostnameOverride(spec, at.child('hostnameOverride'));
  validateNames(spec, at);
  validateScheduling(spec, at);
  if (spec.os) validatePodOS(spec, at, visit);
  validateFileKeyVolumes(spec, visit);
}

/** Visits init containers, containers and ephemeral containers, in this order. */
export function containersOf(spec: PodSpec, at: FieldReport): (each: ContainerVisitor) => void {
  return (visitor) => {
    for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
      (spec[list] as readonly Container[] | undefined)?.forEach((container, i) => {
        visitor(container, () => at.child(list).index(i));
      });
    }
  };
}

function validatePolicies({ restartPolicy, dnsPolicy }: PodSpec, at: FieldReport): void {
  if (!restartPolicy) at.child('restartPolicy').required();
  else at.child('restartPolicy').oneOf(restartPolicy, RESTART_POLICIES);
  if (!dnsPolicy) at.child('dnsPolicy').required();
  else at.child('dnsPolicy').oneOf(dnsPolicy, DNS_POLICIES);
}

function validateHostNetworkPorts(containers: readonly Container[], at: FieldReport, { isPod }: PodSpecRules): void {
  containers.forEach(({ ports = [] }, i) => {
    ports.forEach(({ hostPort = 0, containerPort = 0 }, j) => {
      if ((!isPod && hostPort === 0) || hostPort === containerPort) return;
      const field = at.index(i).child('ports').index(j).child('hostPort');
      field.invalid(hostPort, 'must match `containerPort` when `hostNetwork` is true');
    });
  });
}

function validateResourceClaims(claims: readonly PodResourceClaim[], at: FieldReport, podMeta: ObjectMeta | undefined): void {
  const names = new Set<string>();
  claims.forEach((claim, i) => {
    if (podMeta?.annotations?.[MIRROR_POD_ANNOTATION] !== undefined) {
      at.add([FieldError.forbidden(Path.of(''), 'static pods do not support resource claims')]);
    } else validateResourceClaim(claim, at.index(i), names);
  });
}

function validateResourceClaim(claim: PodResourceClaim, at: FieldReport, names: Set<string>): void {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  if (!name) at.child('name').required();
  else if (names.has(name)) at.child('name').duplicate(name);
  else at.child('name').problems(name, checkDns1123Label(name));
  if (name) names.add(name);
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
    const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
    at.invalid(goStruct(PodResourceClaim, claim), detail);
  }
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
    at.invalid(goStruct(PodResourceClaim, claim), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
  }
  if (resourceClaimName !== undefined)
    at.child('resourceClaimName').problems(resourceClaimName, nameIsDnsSubdomain(resourceClaimName, false));
  if (resourceClaimTemplateName === undefined) return;
  at.child('resourceClaimTemplateName').problems(resourceClaimTemplateName, nameIsDnsSubdomain(resourceClaimTemplateName, false));
}

function validateGates({ readinessGates = [], schedulingGates = [] }: PodSpec, at: FieldReport): void {
  readinessGates.forEach(({ conditionType = '' }, i) => {
    at.child('readinessGates').index(i).child('conditionType').problems(conditionType, checkLabelKey(conditionType));
  });
  const seen = new Set<string>();
  schedulingGates.forEach(({ name = '' }, i) => {
    const field = at.child('schedulingGates').index(i);
    field.problems(name, checkLabelKey(name));
    if (seen.has(name)) field.duplicate(name);
    seen.add(name);
  });
}

// The capitalization is upstream's.
function validateUserNamespace(spec: PodSpec, at: FieldReport, visit: (each: ContainerVisitor) => void): void {
  const detail = 'when `hostUsers` is false';
  if (spec.hostNetwork) at.child('hostNetwork').forbidden(detail);
  if (spec.hostPID) at.child('HostPID').forbidden(detail);
  if (spec.hostIPC) at.child('HostIPC').forbidden(detail);
  visit((container, field) => {
    if (container.volumeDevices?.length) field().child('volumeDevices').forbidden(detail);
  });
}

function validateNames(spec: PodSpec, at: FieldReport): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds: deadline, hostname, subdomain } = spec;
  if (serviceAccountName) at.child('serviceAccountName').problems(serviceAccountName, nameIsDnsSubdomain(serviceAccountName, false));
  if (nodeName) at.child('nodeName').problems(nodeName, nameIsDnsSubdomain(nodeName, false));
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    at.child('activeDeadlineSeconds').invalid(deadline, inclusiveRangeText(1, MAX_INT32));
  }
  if (hostname) at.child('hostname').problems(hostname, checkDns1123Label(hostname));
  if (subdomain) at.child('subdomain').problems(subdomain, checkDns1123Label(subdomain));
}

function validateScheduling(spec: PodSpec, at: FieldReport): void {
  const { tolerations, hostAliases, priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec;
  if (tolerations) validateTolerations(tolerations, at.child('tolerations'));
  if (hostAliases) validateHostAliases(hostAliases, at.child('hostAliases'));
  if (priorityClassName) at.child('priorityClassName').problems(priorityClassName, nameIsDnsSubdomain(priorityClassName, false));
  if (runtimeClassName !== undefined) at.child('runtimeClassName').problems(runtimeClassName, nameIsDnsSubdomain(runtimeClassName, false));
  if (preemptionPolicy === '') at.child('preemptionPolicy').required();
  else if (preemptionPolicy !== undefined) at.child('preemptionPolicy').oneOf(preemptionPolicy, PREEMPTION_POLICIES);
  if (overhead) validateContainerResources({ limits: overhead }, at.child('overhead'));
}

function validateFileKeyVolumes({ volumes = [] }: PodSpec, visit: (each: ContainerVisitor) => void): void {
  const byName = new Map(volumes.map((volume) => [volume.name, volume]));
  visit(({ env }, field) => {
    env?.forEach(({ valueFrom }, i) => {
      const name = valueFrom?.fileKeyRef?.volumeName;
      if (name === undefined) return;
      const volume = byName.get(name);
      const at = () => field().child('env').index(i).child('valueFrom').child('fileKeyRef').child('volumeName');
      if (!volume) at().notFound(name);
      else if (!volume.emptyDir) at().invalid(name, 'referenced volume must be of type emptyDir');
    });
  });
}
