import type { core } from '#api';

/** A reference to API objects, which static pods may not have; undefined when there is none. */
export function apiReference({ spec }: core.Pod): string | undefined {
  if (spec === undefined) return undefined;
  if (spec.serviceAccountName) return 'serviceaccounts';
  if ((spec.imagePullSecrets ?? []).length > 0) return 'secrets';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return first(containers, environmentReference) ?? first(spec.volumes ?? [], volumeReference);
}

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const result = find(item);
    if (result !== undefined) return result;
  }
  return undefined;
}

function environmentReference({ env = [], envFrom = [] }: core.Container): string | undefined {
  const from = [...env.map(({ valueFrom }) => valueFrom ?? {}), ...envFrom] as readonly Record<string, unknown>[];
  if (from.some((source) => source.configMapKeyRef ?? source.configMapRef)) return 'configmaps';
  return from.some((source) => source.secretKeyRef ?? source.secretRef) ? 'secrets' : undefined;
}

function volumeReference(volume: core.Volume): string | undefined {
  if (volume.configMap) return 'configmaps';
  if (volume.secret) return 'secrets';
  if (volume.persistentVolumeClaim || volume.ephemeral) return 'persistentvolumeclaims';
  if (volume.csi?.nodePublishSecretRef) return 'secrets';
  return first(volume.projected?.sources ?? [], (source) => {
    if (source.configMap) return 'configmaps';
    if (source.secret) return 'secrets';
    if (source.serviceAccountToken) return 'serviceaccounts';
    return source.clusterTrustBundle ? 'clustertrustbundles' : undefined;
  });
}
