import type { core } from '#api';
import { lookupTable } from '#base';
import {
  hasAnnotation,
  MIGRATED_TO,
  PROVISIONED_BY,
  PROVISIONERS,
  withAnnotations,
  withoutAnnotation,
} from './persistentvolume/binding.ts';

/** CSI drivers that replaced in-tree plugins. */
const DRIVERS = lookupTable<string>({
  'kubernetes.io/aws-ebs': 'ebs.csi.aws.com',
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/azure-file': 'file.csi.azure.com',
  'kubernetes.io/cinder': 'cinder.csi.openstack.org',
  'kubernetes.io/gce-pd': 'pd.csi.storage.gke.io',
  'kubernetes.io/portworx-volume': 'pxd.portworx.com',
  'kubernetes.io/vsphere-volume': 'csi.vsphere.vmware.com',
});

/** The volume sources of those plugins. */
const SOURCES = {
  awsElasticBlockStore: 'kubernetes.io/aws-ebs',
  azureDisk: 'kubernetes.io/azure-disk',
  azureFile: 'kubernetes.io/azure-file',
  cinder: 'kubernetes.io/cinder',
  gcePersistentDisk: 'kubernetes.io/gce-pd',
  portworxVolume: 'kubernetes.io/portworx-volume',
  vsphereVolume: 'kubernetes.io/vsphere-volume',
} as const satisfies Partial<Record<keyof core.PersistentVolumeSpec, string>>;

/** Protects a volume until this controller has deleted its storage. */
const IN_TREE_FINALIZER = 'kubernetes.io/pv-controller';
/** The same for an external provisioner. */
const EXTERNAL_FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer';

/** The CSI driver that replaced an in-tree plugin. */
export function migratedDriver(plugin: string): string | undefined {
  return DRIVERS[plugin];
}

/** The in-tree plugin of a volume, if a driver replaced it. */
export function migratedPluginOf({ spec }: core.PersistentVolume): string | undefined {
  const source = (Object.keys(SOURCES) as (keyof typeof SOURCES)[]).find((field) => spec?.[field] !== undefined);
  return source && SOURCES[source];
}

/** The claim with the migrated-to annotation of its provisioner; the same object if unchanged. */
export function withClaimMigration(claim: core.PersistentVolumeClaim): core.PersistentVolumeClaim {
  const provisioner = PROVISIONERS.map((name) => claim.metadata.annotations?.[name]).find((value) => value !== undefined);
  return provisioner === undefined ? claim : withMigration(claim, provisioner);
}

/** The same for a volume, which the driver then protects and deletes. */
export function withVolumeMigration(volume: core.PersistentVolume): core.PersistentVolume {
  const provisioner = volume.metadata.annotations?.[PROVISIONED_BY];
  if (provisioner === undefined) return volume;
  const finalizers = finalizersFor(volume, provisioner);
  const noted = withMigration(volume, provisioner);
  const isSame = finalizers.join() === (volume.metadata.finalizers ?? []).join();
  return isSame ? noted : { ...noted, metadata: { ...noted.metadata, finalizers: [...finalizers] } };
}

function withMigration<T extends core.PersistentVolume | core.PersistentVolumeClaim>(object: T, provisioner: string): T {
  const driver = migratedDriver(provisioner);
  if (driver === undefined) return hasAnnotation(object, MIGRATED_TO) ? (withoutAnnotation(object, MIGRATED_TO) as T) : object;
  return object.metadata.annotations?.[MIGRATED_TO] === driver ? object : (withAnnotations(object, { [MIGRATED_TO]: driver }) as T);
}

function finalizersFor({ metadata, spec }: core.PersistentVolume, provisioner: string): readonly string[] {
  const { finalizers = [] } = metadata;
  const others = finalizers.filter((name) => name !== IN_TREE_FINALIZER);
  if (migratedDriver(provisioner) !== undefined) return others;
  if (!provisioner.startsWith('kubernetes.io/')) return finalizers;
  const own = others.filter((name) => name !== EXTERNAL_FINALIZER);
  if (spec?.persistentVolumeReclaimPolicy !== 'Delete') return own;
  return finalizers.includes(IN_TREE_FINALIZER) ? finalizers.filter((name) => name !== EXTERNAL_FINALIZER) : [...own, IN_TREE_FINALIZER];
}
