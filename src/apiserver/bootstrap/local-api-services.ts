import type { apiregistration } from '#api';
import { lookupTable } from '#base';

interface Priority {
  readonly group: number;
  readonly version: number;
}

/** Group and version priorities, which order them for clients. */
const PRIORITIES = lookupTable<Priority>({
  '/v1': { group: 18_000, version: 1 },
  'apps/v1': { group: 17_800, version: 15 },
  'events.k8s.io/v1': { group: 17_750, version: 15 },
  'authentication.k8s.io/v1': { group: 17_700, version: 15 },
  'authorization.k8s.io/v1': { group: 17_600, version: 15 },
  'autoscaling/v2': { group: 17_500, version: 30 },
  'autoscaling/v1': { group: 17_500, version: 15 },
  'batch/v1': { group: 17_400, version: 15 },
  'certificates.k8s.io/v1': { group: 17_300, version: 15 },
  'certificates.k8s.io/v1beta1': { group: 17_300, version: 9 },
  'certificates.k8s.io/v1alpha1': { group: 17_300, version: 1 },
  'networking.k8s.io/v1': { group: 17_200, version: 15 },
  'networking.k8s.io/v1beta1': { group: 17_200, version: 9 },
  'policy/v1': { group: 17_100, version: 15 },
  'rbac.authorization.k8s.io/v1': { group: 17_000, version: 15 },
  'storage.k8s.io/v1': { group: 16_800, version: 15 },
  'storage.k8s.io/v1beta1': { group: 16_800, version: 9 },
  'apiextensions.k8s.io/v1': { group: 16_700, version: 15 },
  'admissionregistration.k8s.io/v1': { group: 16_700, version: 15 },
  'admissionregistration.k8s.io/v1beta1': { group: 16_700, version: 12 },
  'admissionregistration.k8s.io/v1alpha1': { group: 16_700, version: 9 },
  'scheduling.k8s.io/v1': { group: 16_600, version: 15 },
  'scheduling.k8s.io/v1alpha2': { group: 16_600, version: 2 },
  'coordination.k8s.io/v1': { group: 16_500, version: 15 },
  'coordination.k8s.io/v1beta1': { group: 16_500, version: 13 },
  'coordination.k8s.io/v1alpha2': { group: 16_500, version: 12 },
  'node.k8s.io/v1': { group: 16_300, version: 15 },
  'discovery.k8s.io/v1': { group: 16_200, version: 15 },
  'resource.k8s.io/v1': { group: 16_200, version: 21 },
  'resource.k8s.io/v1beta2': { group: 16_200, version: 15 },
  'resource.k8s.io/v1beta1': { group: 16_200, version: 9 },
  'resource.k8s.io/v1alpha3': { group: 16_200, version: 1 },
  'flowcontrol.apiserver.k8s.io/v1': { group: 16_100, version: 21 },
  'internal.apiserver.k8s.io/v1alpha1': { group: 16_000, version: 9 },
  'storagemigration.k8s.io/v1beta1': { group: 15_800, version: 9 },
});
const CUSTOM: Priority = { group: 1000, version: 100 };
const MANAGED = 'kube-aggregator.kubernetes.io/automanaged';

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** A local APIService: written at startup for built-in groups, and with each CRD for custom resources. */
export function localApiService({ group, version }: GroupVersion): LocalApiService {
  const builtIn = PRIORITIES[`${group}/${version}`];
  const priority = builtIn ?? CUSTOM;
  return {
    metadata: { name: `${version}.${group}`, labels: { [MANAGED]: builtIn ? 'onstart' : 'true' } },
    spec: { ...(group && { group }), version, groupPriorityMinimum: priority.group, versionPriority: priority.version },
  };
}

/** Whether the registration follows a CRD. */
export function isManagedContinuously(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[MANAGED] === 'true';
}

export interface LocalApiService {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: apiregistration.APIServiceSpec;
}

/** The APIServices of built-in group versions. */
export function builtInApiServices(): readonly LocalApiService[] {
  return Object.keys(PRIORITIES).map((key) => {
    const [group = '', version = ''] = key.split('/');
    return localApiService({ group, version });
  });
}

/** Whether the registration was made at startup: removed when the version is no longer served. */
export function isManagedOnStart(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[MANAGED] === 'onstart';
}

/** The status of a local APIService: always available. */
export function localAvailability(lastTransitionTime: string): apiregistration.APIServiceCondition {
  return {
    type: 'Available',
    status: 'True',
    lastTransitionTime,
    reason: 'Local',
    message: 'Local APIServices are always available',
  };
}
