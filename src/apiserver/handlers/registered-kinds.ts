import { KINDS } from '#api';
import { lookupTable } from '#base';
import { apiVersionOf, type GroupVersionKind, parseGroupVersion } from '#machinery';

/** Kinds that upstream's scheme decodes though this server does not serve their version. */
const UNSERVED: ReadonlyMap<string, readonly string[]> = new Map([
  ['admission.k8s.io/v1', ['AdmissionReview']],
  ['admission.k8s.io/v1beta1', ['AdmissionReview']],
  ['admissionregistration.k8s.io/v1alpha1', ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding', ...mutatingPolicies()]],
  [
    'admissionregistration.k8s.io/v1beta1',
    [
      'ValidatingWebhookConfiguration',
      'MutatingWebhookConfiguration',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
      ...mutatingPolicies(),
    ],
  ],
  ['apiextensions.k8s.io/v1', ['ConversionReview']],
  ['apiextensions.k8s.io/v1beta1', ['CustomResourceDefinition', 'ConversionReview']],
  ['apiregistration.k8s.io/v1beta1', ['APIService']],
  ['internal.apiserver.k8s.io/v1alpha1', ['StorageVersion']],
  ['apps/v1beta1', ['Deployment', 'DeploymentRollback', 'Scale', 'StatefulSet', 'ControllerRevision']],
  ['apps/v1beta2', ['Deployment', 'Scale', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ControllerRevision']],
  ['authentication.k8s.io/v1', ['TokenRequest']],
  ['authentication.k8s.io/v1alpha1', ['SelfSubjectReview']],
  ['authentication.k8s.io/v1beta1', ['SelfSubjectReview', 'TokenReview']],
  [
    'authorization.k8s.io/v1beta1',
    ['SelfSubjectRulesReview', 'SelfSubjectAccessReview', 'SubjectAccessReview', 'LocalSubjectAccessReview'],
  ],
  ['autoscaling/v1', ['Scale']],
  ['batch/v1beta1', ['CronJob']],
  ['certificates.k8s.io/v1alpha1', ['ClusterTrustBundle']],
  ['certificates.k8s.io/v1beta1', ['CertificateSigningRequest', 'ClusterTrustBundle', 'PodCertificateRequest']],
  ['coordination.k8s.io/v1alpha2', ['LeaseCandidate']],
  ['coordination.k8s.io/v1beta1', ['Lease', 'LeaseCandidate']],
  [
    'v1',
    [
      'PodStatusResult',
      'ServiceProxyOptions',
      'NodeProxyOptions',
      'PodAttachOptions',
      'PodLogOptions',
      'PodExecOptions',
      'PodPortForwardOptions',
      'PodProxyOptions',
      'SerializedReference',
      'RangeAllocation',
    ],
  ],
  ['discovery.k8s.io/v1beta1', ['EndpointSlice']],
  ['events.k8s.io/v1beta1', ['Event']],
  ['extensions/v1beta1', ['Deployment', 'DeploymentRollback', 'Scale', 'DaemonSet', 'Ingress', 'ReplicaSet', 'NetworkPolicy']],
  ['flowcontrol.apiserver.k8s.io/v1beta1', ['FlowSchema', 'PriorityLevelConfiguration']],
  ['flowcontrol.apiserver.k8s.io/v1beta2', ['FlowSchema', 'PriorityLevelConfiguration']],
  ['flowcontrol.apiserver.k8s.io/v1beta3', ['FlowSchema', 'PriorityLevelConfiguration']],
  ['imagepolicy.k8s.io/v1alpha1', ['ImageReview']],
  ['networking.k8s.io/v1beta1', ['Ingress', 'IngressClass', 'IPAddress', 'ServiceCIDR']],
  ['node.k8s.io/v1alpha1', ['RuntimeClass']],
  ['node.k8s.io/v1beta1', ['RuntimeClass']],
  ['policy/v1', ['Eviction']],
  ['policy/v1beta1', ['PodDisruptionBudget', 'Eviction']],
  ['rbac.authorization.k8s.io/v1alpha1', ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']],
  ['rbac.authorization.k8s.io/v1beta1', ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']],
  ['resource.k8s.io/v1alpha3', ['DeviceTaintRule', 'ResourcePoolStatusRequest']],
  ['resource.k8s.io/v1beta1', ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice']],
  ['resource.k8s.io/v1beta2', ['DeviceClass', 'DeviceTaintRule', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice']],
  ['scheduling.k8s.io/v1alpha2', ['Workload', 'PodGroup']],
  ['scheduling.k8s.io/v1beta1', ['PriorityClass']],
  ['storage.k8s.io/v1alpha1', ['VolumeAttachment', 'CSIStorageCapacity', 'VolumeAttributesClass']],
  ['storage.k8s.io/v1beta1', ['StorageClass', 'VolumeAttachment', 'CSIDriver', 'CSINode', 'CSIStorageCapacity', 'VolumeAttributesClass']],
  ['storagemigration.k8s.io/v1beta1', ['StorageVersionMigration']],
]);

function mutatingPolicies(): readonly string[] {
  return ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'];
}

const KINDS_OF_EVERY_VERSION: ReadonlySet<string> = new Set([
  'WatchEvent',
  'ListOptions',
  'GetOptions',
  'DeleteOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
]);
const UNVERSIONED_KINDS: ReadonlySet<string> = new Set(['List', 'Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList']);

/** Upstream's schemes, by where each is made: clients see that in messages. */
export const MAIN_SCHEME = 'pkg/api/legacyscheme/scheme.go:30';
const OWN_SCHEMES: ReadonlyMap<string, string> = new Map([
  ['apiextensions.k8s.io', 'pkg/apiserver/apiserver.go:55'],
  ['apiregistration.k8s.io', 'pkg/apiserver/scheme/scheme.go:28'],
]);

export function schemeOf(group: string): string {
  return OWN_SCHEMES.get(group) ?? MAIN_SCHEME;
}

/** The group versions that upstream's schemes decode, served or not, in order. */
export function registeredGroupVersions(): readonly Pick<GroupVersionKind, 'group' | 'version'>[] {
  const texts = new Set([...UNSERVED.keys(), ...KINDS.map(apiVersionOf)]);
  const groupVersions = [...texts].map(parseGroupVersion);
  return groupVersions.sort((a, b) => (`${a.group}/${a.version}` < `${b.group}/${b.version}` ? -1 : 1));
}

/** Whether the scheme that serves `servedGroup` can decode the kind: kinds, their lists, and the common kinds of every version. */
export function isRegistered({ group, version, kind }: GroupVersionKind, servedGroup: string): boolean {
  if (group === '' && version === 'v1' && UNVERSIONED_KINDS.has(kind)) return true;
  if (schemeOf(group) !== schemeOf(servedGroup)) return group === '' && version === 'v1' && KINDS_OF_EVERY_VERSION.has(kind);
  const unserved = UNSERVED.get(apiVersionOf({ group, version })) ?? [];
  const kinds = [
    ...KINDS.filter((served) => served.group === group && served.version === version).map((served) => served.kind),
    ...unserved,
  ];
  if (kinds.length > 0 && KINDS_OF_EVERY_VERSION.has(kind)) return true;
  return kinds.some((candidate) => candidate === kind || (hasList(candidate) && `${candidate}List` === kind));
}

/** Reviews, options and parts of others have no list kind. */
function hasList(kind: string): boolean {
  return !/(?:Review|Options|Binding|Rollback|Scale|Eviction|Result|Reference|RangeAllocation|Request)$/.test(kind) || LISTED.has(kind);
}

const LISTED: ReadonlySet<string> = new Set([
  'RoleBinding',
  'ClusterRoleBinding',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicyBinding',
  'CertificateSigningRequest',
  'PodCertificateRequest',
  'ResourcePoolStatusRequest',
]);

/** Groups whose Go package is not called by the first part of the group's name. */
const PACKAGES: Readonly<Record<string, string>> = lookupTable({ '': 'core', 'internal.apiserver.k8s.io': 'apiserverinternal' });

/** Kinds that moved between groups share one internal type. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ['events.Event', 'core.Event'],
  ['events.EventList', 'core.EventList'],
  ['extensions.Ingress', 'networking.Ingress'],
  ['extensions.IngressList', 'networking.IngressList'],
  ['extensions.NetworkPolicy', 'networking.NetworkPolicy'],
  ['extensions.NetworkPolicyList', 'networking.NetworkPolicyList'],
  ['extensions.Scale', 'autoscaling.Scale'],
  ['apps.Scale', 'autoscaling.Scale'],
]);

/** Upstream's internal Go type of a kind: the same for all versions. */
export function internalType({ group, kind }: Pick<GroupVersionKind, 'group' | 'kind'>): string {
  const own = `${PACKAGES[group] ?? group.split('.', 1)[0]}.${kind}`;
  return MOVED.get(own) ?? own.replace(/^extensions\./, 'apps.');
}
