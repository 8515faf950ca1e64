import type { core, storage } from '#api';
import { lookupTable } from '#base';
import { type PluginDeps, readObject } from '../plugin-deps.ts';

/** The CSI driver that replaces an in-tree volume type. */
const MIGRATED = lookupTable<string>({
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
});

/** Whether a projected volume or the CSI driver of a volume of the pod requires a token for this audience. */
export async function podNeedsAudience(pod: core.Pod, audience: string, deps: PluginDeps): Promise<boolean> {
  for (const volume of pod.spec?.volumes ?? []) {
    const sources = volume.projected?.sources ?? [];
    if (sources.some(({ serviceAccountToken: token }) => token !== undefined && (token.audience ?? '') === audience)) return true;
    const driver = await driverOf(pod, volume, deps);
    if (driver !== undefined && (await driverNeedsAudience(driver, audience, deps))) return true;
  }
  return false;
}

async function driverOf({ metadata }: core.Pod, volume: core.Volume, deps: PluginDeps): Promise<string | undefined> {
  const { ephemeral, persistentVolumeClaim, csi } = volume;
  const claim = ephemeral?.volumeClaimTemplate ? `${metadata.name}-${volume.name}` : persistentVolumeClaim?.claimName;
  if (claim !== undefined) return driverOfClaim(metadata.namespace ?? '', claim, deps);
  return csi?.driver ?? migrated(volume);
}

async function driverOfClaim(namespace: string, name: string, deps: PluginDeps): Promise<string | undefined> {
  const claim = await readObject(deps, { group: '', resource: 'persistentvolumeclaims' }, { namespace, name });
  const volumeName = (claim as unknown as core.PersistentVolumeClaim | undefined)?.spec?.volumeName;
  if (!volumeName) return undefined;
  const volume = await readObject(deps, { group: '', resource: 'persistentvolumes' }, { namespace: '', name: volumeName });
  const spec = (volume as unknown as core.PersistentVolume | undefined)?.spec;
  return spec?.csi?.driver ?? (spec && migrated(spec));
}

function migrated(source: object): string | undefined {
  const type = Object.keys(source).find((key) => Object.hasOwn(MIGRATED, key));
  return type && MIGRATED[type];
}

async function driverNeedsAudience(name: string, audience: string, deps: PluginDeps): Promise<boolean> {
  const driver = await readObject(deps, { group: 'storage.k8s.io', resource: 'csidrivers' }, { namespace: '', name });
  const requests = (driver as unknown as storage.CSIDriver | undefined)?.spec?.tokenRequests ?? [];
  return requests.some((request) => request.audience === audience);
}
