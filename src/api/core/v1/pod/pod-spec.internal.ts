import { goStruct } from '../../../go-struct.ts';
import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import type { PodTemplateSpec } from '../pod-template/pod-template-spec.ts';
import { PodSecurityContext, PodSpec } from './pod-spec.ts';

type FieldsByName = Readonly<Record<string, unknown>>;

/** The fields of upstream's internal pod spec, in its order: host namespaces are part of the security context there. */
const SPEC_ORDER = [
  ...['Volumes', 'InitContainers', 'Containers', 'EphemeralContainers', 'RestartPolicy', 'TerminationGracePeriodSeconds'],
  ...['ActiveDeadlineSeconds', 'DNSPolicy', 'NodeSelector', 'ServiceAccountName', 'AutomountServiceAccountToken', 'NodeName'],
  ...['SecurityContext', 'ImagePullSecrets', 'Hostname', 'Subdomain', 'SetHostnameAsFQDN', 'Affinity', 'SchedulerName', 'Tolerations'],
  ...['HostAliases', 'PriorityClassName', 'Priority', 'PreemptionPolicy', 'DNSConfig', 'ReadinessGates', 'RuntimeClassName', 'Overhead'],
  ...['EnableServiceLinks', 'TopologySpreadConstraints', 'OS', 'SchedulingGates', 'ResourceClaims', 'Resources', 'HostnameOverride'],
  'SchedulingGroup',
];
const HOST_FIELDS = ['HostNetwork', 'HostPID', 'HostIPC', 'ShareProcessNamespace', 'HostUsers'];
const SECURITY_ORDER = [
  ...['SELinuxOptions', 'WindowsOptions', 'RunAsUser', 'RunAsGroup', 'RunAsNonRoot', 'SupplementalGroups', 'SupplementalGroupsPolicy'],
  ...['FSGroup', 'FSGroupChangePolicy', 'Sysctls', 'SeccompProfile', 'AppArmorProfile', 'SELinuxChangePolicy'],
];
const SOURCE_ORDER = [
  ...['Name', 'HostPath', 'EmptyDir', 'GCEPersistentDisk', 'AWSElasticBlockStore', 'GitRepo', 'Secret', 'NFS', 'ISCSI', 'Glusterfs'],
  ...['PersistentVolumeClaim', 'RBD', 'Quobyte', 'FlexVolume', 'Cinder', 'CephFS', 'Flocker', 'DownwardAPI', 'FC', 'AzureFile'],
  ...['ConfigMap', 'VsphereVolume', 'AzureDisk', 'PhotonPersistentDisk', 'Projected', 'PortworxVolume', 'ScaleIO', 'StorageOS', 'CSI'],
  ...['Ephemeral', 'Image'],
];

/** A pod spec as upstream's messages print it. */
export function internalPodSpec(spec: PodSpec): FieldsByName {
  const printed = goStruct(PodSpec, spec) as FieldsByName;
  const security = (goStruct(PodSecurityContext, spec.securityContext) ?? {}) as FieldsByName;
  const volumes = printed.Volumes as readonly FieldsByName[] | null;
  return pick(SPEC_ORDER, {
    ...printed,
    Volumes: volumes?.map((volume) => pick(SOURCE_ORDER, volume)),
    SecurityContext: { ...pick(HOST_FIELDS, printed), ...pick(SECURITY_ORDER, security) },
  });
}

export function internalPodTemplate({ metadata = {}, spec = {} as PodSpec }: PodTemplateSpec): FieldsByName {
  return { ...goStruct(ObjectMeta, metadata), Spec: internalPodSpec(spec) };
}

function pick(names: readonly string[], from: FieldsByName): FieldsByName {
  return Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
}
