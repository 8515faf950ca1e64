import type { apiregistration } from '#api';

interface Priority {
  readonly group: number;
  readonly version: number;
}

/** The order of API groups, and of versions within each, in which clients prefer them. */
const PRIORITIES: Readonly<Record<string, Priority>> = {
  '/v1': { group: 18_000, version: 1 },
  'apps/v1': { group: 17_800, version: 15 },
  'events.k8s.io/v1': { group: 17_750, version: 15 },
  'authentication.k8s.io/v1': { group: 17_700, version: 15 },
  'authorization.k8s.io/v1': { group: 17_600, version: 15 },
  'autoscaling/v2': { group: 17_500, version: 30 },
  'autoscaling/v1': { group: 17_500, version: 15 },
  'batch/v1': { group: 17_400, version: 15 },
  'certificates.k8s.io/v1': { group: 17_300, version: 15 },
  'networking.k8s.io/v1': { group: 17_200, version: 15 },
  'policy/v1': { group: 17_100, version: 15 },
  'rbac.authorization.k8s.io/v1': { group: 17_000, version: 15 },
  'storage.k8s.io/v1': { group: 16_800, version: 15 },
  'apiextensions.k8s.io/v1': { group: 16_700, version: 15 },
  'admissionregistration.k8s.io/v1': { group: 16_700, version: 15 },
  'scheduling.k8s.io/v1': { group: 16_600, version: 15 },
  'coordination.k8s.io/v1': { group: 16_500, version: 15 },
  'node.k8s.io/v1': { group: 16_300, version: 15 },
  'discovery.k8s.io/v1': { group: 16_200, version: 15 },
  'resource.k8s.io/v1': { group: 16_200, version: 21 },
  'flowcontrol.apiserver.k8s.io/v1': { group: 16_100, version: 21 },
};
const CUSTOM: Priority = { group: 1000, version: 100 };
const MANAGED = 'kube-aggregator.kubernetes.io/automanaged';

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** How a group that this server serves itself is registered: for built-in ones once at the start, for custom resources as they come and go. */
export function localApiService({ group, version }: GroupVersion): LocalApiService {
  const builtIn = PRIORITIES[`${group}/${version}`];
  const priority = builtIn ?? CUSTOM;
  return {
    metadata: { name: `${version}.${group}`, labels: { [MANAGED]: builtIn ? 'onstart' : 'true' } },
    spec: { ...(group && { group }), version, groupPriorityMinimum: priority.group, versionPriority: priority.version },
  };
}

/** Whether a registration comes and goes with what it is for. */
export function isManagedContinuously(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[MANAGED] === 'true';
}

export interface LocalApiService {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: apiregistration.APIServiceSpec;
}

/** The group versions that are registered at the start. */
export function builtInApiServices(): readonly LocalApiService[] {
  return Object.keys(PRIORITIES).map((key) => {
    const [group = '', version = ''] = key.split('/');
    return localApiService({ group, version });
  });
}

/** What the status of such a registration says, from the start: this server need not be reached over the network. */
export function localAvailability(lastTransitionTime: string): apiregistration.APIServiceCondition {
  return {
    type: 'Available',
    status: 'True',
    lastTransitionTime,
    reason: 'Local',
    message: 'Local APIServices are always available',
  };
}
