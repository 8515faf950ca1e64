import type { core } from '#api';

type Pod = core.Pod;
type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** The names of secrets that a pod refers to. */
export function podSecretNames(pod: Pod): readonly string[] {
  const { imagePullSecrets = [], volumes = [] } = pod.spec ?? {};
  const names = [
    ...imagePullSecrets.map(({ name }) => name),
    ...containersOf(pod).flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ]),
    ...volumes.flatMap(volumeSecretNames),
  ];
  return named(names);
}

function volumeSecretNames(volume: Volume): readonly (string | undefined)[] {
  const { secret, projected, azureFile, csi, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos } = volume;
  const references = [cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef?.name);
  const projections = projected?.sources?.map((source) => source.secret?.name) ?? [];
  return [secret?.secretName, azureFile?.secretName, csi?.nodePublishSecretRef?.name, ...references, ...projections];
}

/** The names of config maps that a pod refers to. */
export function podConfigMapNames(pod: Pod): readonly string[] {
  const names = [
    ...containersOf(pod).flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...(pod.spec?.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources?.map((source) => source.configMap?.name) ?? []),
    ]),
  ];
  return named(names);
}

/** The names of persistent volume claims that a pod uses, those made for it included. */
export function podClaimNames(pod: Pod): readonly string[] {
  const names = (pod.spec?.volumes ?? []).map(
    ({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim?.claimName ?? (ephemeral && `${pod.metadata?.name ?? ''}-${name}`),
  );
  return named(names);
}

/** The names of resource claims that a pod uses, once they are known. */
export function podResourceClaimNames({ spec, status }: Pod): readonly string[] {
  const made = new Map(status?.resourceClaimStatuses?.map(({ name, resourceClaimName }) => [name, resourceClaimName]));
  const names = (spec?.resourceClaims ?? []).map(({ name, resourceClaimName }) => resourceClaimName ?? made.get(name));
  return named([...names, status?.extendedResourceClaimStatus?.resourceClaimName]);
}

function containersOf({ spec }: Pod): readonly { env?: core.Container['env']; envFrom?: core.Container['envFrom'] }[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec ?? {};
  // Before a pod is validated it may have none.
  return [...initContainers, ...(containers ?? []), ...ephemeralContainers] as readonly core.Container[];
}

function named(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name): name is string => name !== undefined && name !== ''))];
}

/** A secret that a node needs to mount a persistent volume. */
export interface VolumeSecret {
  readonly namespace: string;
  readonly name: string;
}

export function volumeSecrets({ spec }: core.PersistentVolume): readonly VolumeSecret[] {
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi, claimRef } = spec ?? {};
  const home = claimRef?.namespace ?? '';
  const references = [
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace || home },
    // Old volumes of these kinds name a secret in the namespace of their claim.
    ...[cephfs, flexVolume, rbd, scaleIO, iscsi].map((source) => {
      const reference = source?.secretRef;
      return reference && { name: reference.name, namespace: reference.namespace || home };
    }),
    ...[cinder, storageos].map((source) => source?.secretRef),
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
  ];
  return references.flatMap((reference) => {
    const { name = '', namespace = '' } = reference ?? {};
    return name === '' ? [] : [{ name, namespace }];
  });
}
