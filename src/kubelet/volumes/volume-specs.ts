import { core } from '#api';
import type { Client } from '#client';
import type { VolumeSpec } from './volume-plugin.ts';
import { messageOf } from './volume-plugin.ts';

/** The volumes that some container mounts: the others need not exist. */
export function mountedVolumes({ spec }: core.Pod): readonly core.Volume[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
  const names = new Set(
    containers.flatMap(({ volumeMounts = [], volumeDevices = [] }) => [...volumeMounts, ...volumeDevices].map(({ name }) => name)),
  );
  return (spec?.volumes ?? []).filter(({ name }) => names.has(name));
}

/** Resolves a pod's volume. Rejects when its claim is not usable (yet). */
export async function resolveVolume(volume: core.Volume, pod: core.Pod, client: Client): Promise<VolumeSpec> {
  const claimName = core.volumeClaimName(pod, volume);
  const { name } = volume;
  if (claimName === undefined) return { podVolumeName: name, name, volume, readOnly: volume.csi?.readOnly ?? false };
  const { namespace } = pod.metadata;
  try {
    const claim = await boundClaim(volume, pod, client);
    const persistentVolume = await volumeOf(claim, client);
    const readOnly = volume.persistentVolumeClaim?.readOnly ?? false;
    return { podVolumeName: name, name: persistentVolume.metadata.name, volume, claim, persistentVolume, readOnly };
  } catch (error) {
    throw new Error(`error processing PVC ${namespace}/${claimName}: ${messageOf(error)}`, { cause: error });
  }
}

async function boundClaim(volume: core.Volume, pod: core.Pod, client: Client): Promise<core.PersistentVolumeClaim> {
  const name = core.volumeClaimName(pod, volume) ?? '';
  const { namespace } = pod.metadata;
  const claim = await client
    .of(core.PersistentVolumeClaim)
    .get({ name, namespace })
    .catch((error: unknown) => {
      throw new Error(`failed to fetch PVC from API server: ${messageOf(error)}`, { cause: error });
    });
  checkOwner(volume, claim, pod);
  // A deleted claim stays as long as this pod uses it.
  if (claim.status?.phase !== 'Bound' || !claim.spec?.volumeName) throw new Error('PVC is not bound');
  return claim;
}

function checkOwner({ ephemeral }: core.Volume, { metadata }: core.PersistentVolumeClaim, pod: core.Pod): void {
  if (ephemeral === undefined) return;
  const isOwned = metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.metadata.uid) === true;
  if (isOwned) return;
  const { namespace, name } = pod.metadata;
  throw new Error(`PVC "${namespace}/${metadata.name}" was not created for pod "${namespace}/${name}" (pod is not owner)`);
}

async function volumeOf({ metadata, spec }: core.PersistentVolumeClaim, client: Client): Promise<core.PersistentVolume> {
  const name = spec?.volumeName ?? '';
  const volume = await client
    .of(core.PersistentVolume)
    .get({ name })
    .catch((error: unknown) => {
      throw new Error(`failed to fetch PV ${name} from API server: ${messageOf(error)}`, { cause: error });
    });
  if (volume.spec?.claimRef?.uid !== metadata.uid) throw new Error(`PV ${name} is not bound to the claim with uid ${metadata.uid}`);
  return volume;
}
