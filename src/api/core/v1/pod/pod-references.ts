import type { Container } from '../container/container.ts';
import type { PersistentVolume } from '../persistent-volume/persistent-volume.ts';
import type { Volume } from '../volume/volume.ts';
import type { Pod } from './pod.ts';
import { volumeClaimName } from './pod-claims.ts';

/** The names of secrets referenced by a pod. */
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
  return withoutEmpty(names);
}

function volumeSecretNames(volume: Volume): readonly (string | undefined)[] {
  const { secret, projected, azureFile, csi, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos } = volume;
  const references = [cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef?.name);
  const projections = projected?.sources?.map((source) => source.secret?.name) ?? [];
  return [secret?.secretName, azureFile?.secretName, csi?.nodePublishSecretRef?.name, ...references, ...projections];
}

/** The names of config maps referenced by a pod. */
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
  return withoutEmpty(names);
}

/** Names of the PersistentVolumeClaims of a pod, generated ones included. */
export function podClaimNames(pod: Pod): readonly string[] {
  const { metadata = {} } = pod;
  return withoutEmpty((pod.spec?.volumes ?? []).map((volume) => volumeClaimName({ metadata }, volume)));
}

/** Names of a pod's ResourceClaims that are resolved. */
export function podResourceClaimNames({ spec, status }: Pod): readonly string[] {
  const claimNames = new Map(status?.resourceClaimStatuses?.map(({ name, resourceClaimName }) => [name, resourceClaimName]));
  const names = (spec?.resourceClaims ?? []).map(({ name, resourceClaimName }) => resourceClaimName ?? claimNames.get(name));
  return withoutEmpty([...names, status?.extendedResourceClaimStatus?.resourceClaimName]);
}

function containersOf({ spec }: Pod): readonly { env?: Container['env']; envFrom?: Container['envFrom'] }[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec ?? {};
  // Containers may be missing before validation.
  return [...initContainers, ...(containers ?? []), ...ephemeralContainers] as readonly Container[];
}

function withoutEmpty(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name): name is string => name !== undefined && name !== ''))];
}

/** A secret needed to mount a persistent volume. */
export interface VolumeSecret {
  readonly namespace: string;
  readonly name: string;
}

export function volumeSecrets({ spec }: PersistentVolume): readonly VolumeSecret[] {
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi, claimRef } = spec ?? {};
  const home = claimRef?.namespace ?? '';
  const references = [
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace || home },
    // Volumes of these deprecated types reference a secret in the namespace of their claim.
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
