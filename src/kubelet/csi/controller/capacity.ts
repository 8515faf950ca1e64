import { createHash } from 'node:crypto';
import { core, storage } from '#api';
import type { Requeue } from '#base';
import { Quantity } from '#machinery';
import { GetCapacity } from '../messages.ts';
import { DEFAULT_FS_TYPE, volumeCapability } from '../volume-capability.ts';
import { type DriverController, type DriverControllerDeps, ignoreError, leaseName } from './driver-controller.ts';
import { nodeTopology } from './topology.ts';

const NAMESPACE = 'kube-system';
const REFRESH_MS = 60_000;
const MANAGED_BY = 'csi.storage.k8s.io/managed-by';
const DRIVER_LABEL = 'csi.storage.k8s.io/drivername';
const ALL = 'all';

/** Publishes the driver's storage capacity for the scheduler, like external-provisioner. */
export function capacityController(deps: DriverControllerDeps): DriverController {
  const { informers, driver } = deps;
  const drivers = informers.of(storage.CSIDriver);
  const classes = informers.of(storage.StorageClass);
  const csiNodes = informers.of(storage.CSINode);
  const volumes = informers.of(core.PersistentVolume);
  informers.of(core.Node);
  const publisher = new CapacityPublisher(deps);
  return {
    name: 'capacity',
    sidecarLease: leaseName(driver.name),
    follow(enqueue) {
      const refresh = () => enqueue(ALL);
      for (const informer of [drivers, classes, csiNodes]) informer.addHandler({ add: refresh, delete: refresh, update: refresh });
      // Each created or deleted volume changes the capacity.
      volumes.addHandler({ add: refresh, delete: refresh });
    },
    sync: () => publisher.sync(),
  };
}

interface Capacity {
  readonly name: string;
  readonly storageClassName: string;
  readonly segments: Readonly<Record<string, string>>;
}

class CapacityPublisher {
  constructor(private readonly deps: DriverControllerDeps) {}

  async sync(): Promise<Requeue | undefined> {
    const { informers, driver, client } = this.deps;
    const { spec } = informers.of(storage.CSIDriver).lister.get({ name: driver.name }) ?? {};
    const desired = spec?.storageCapacity === true ? this.#desired() : [];
    const capacities = client.of(storage.CSIStorageCapacity);
    const labelSelector = `${DRIVER_LABEL}=${driver.name},${MANAGED_BY}=sampan`;
    const { items } = await capacities.list({ namespace: NAMESPACE, labelSelector });
    for (const { metadata } of items) {
      if (!desired.some(({ name }) => name === metadata.name)) await capacities.delete(metadata).catch(ignoreError('NotFound'));
    }
    for (const capacity of desired)
      await this.#publish(
        capacity,
        items.find(({ metadata }) => metadata.name === capacity.name),
      );
    return desired.length > 0 ? { afterMs: REFRESH_MS } : undefined;
  }

  /** One object per storage class of the driver and topology segment. */
  #desired(): readonly Capacity[] {
    const { informers, driver } = this.deps;
    const topologies = new Map<string, Readonly<Record<string, string>>>();
    for (const { metadata, spec } of informers.of(storage.CSINode).lister.list()) {
      const isThere = spec?.drivers?.some(({ name }) => name === driver.name) === true;
      const segments = isThere ? nodeTopology(metadata.name, driver.name, informers) : undefined;
      if (segments !== undefined) topologies.set(JSON.stringify(Object.entries(segments).sort()), segments);
    }
    const classes = informers
      .of(storage.StorageClass)
      .lister.list()
      .filter(({ provisioner }) => provisioner === driver.name);
    return classes.flatMap(({ metadata }) =>
      Array.from(topologies, ([key, segments]) => {
        const hash = createHash('sha256').update(`${driver.name}\n${metadata.name}\n${key}`).digest('hex').slice(0, 16);
        return { name: `csisc-${hash}`, storageClassName: metadata.name, segments };
      }),
    );
  }

  async #publish({ name, storageClassName, segments }: Capacity, before: storage.CSIStorageCapacity | undefined): Promise<void> {
    const { informers, driver, client } = this.deps;
    const { parameters = {}, mountOptions = [] } = informers.of(storage.StorageClass).lister.get({ name: storageClassName }) ?? {};
    const own = Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith('csi.storage.k8s.io/')));
    const fsType = parameters['csi.storage.k8s.io/fstype'] ?? DEFAULT_FS_TYPE;
    const capability = volumeCapability({
      ...{ accessModes: ['ReadWriteOnce'], isBlock: false, fsType, mountOptions, knowsSingleNodeModes: false },
    });
    const { availableCapacity, maximumVolumeSize } = await driver.call(GetCapacity, {
      ...{ parameters: own, volumeCapabilities: [capability], accessibleTopology: { segments } },
    });
    const figures = {
      capacity: Quantity.of(availableCapacity, 'BinarySI').toString(),
      ...(maximumVolumeSize !== undefined && { maximumVolumeSize: Quantity.of(maximumVolumeSize.value, 'BinarySI').toString() }),
    };
    const capacities = client.of(storage.CSIStorageCapacity);
    if (before !== undefined) {
      if (before.capacity === figures.capacity && before.maximumVolumeSize === figures.maximumVolumeSize) return;
      await capacities.patch(before.metadata, figures);
      return;
    }
    const labels = { [DRIVER_LABEL]: driver.name, [MANAGED_BY]: 'sampan' };
    const nodeTopologySelector = { matchLabels: segments };
    await capacities
      .create({ metadata: { name, namespace: NAMESPACE, labels }, storageClassName, nodeTopology: nodeTopologySelector, ...figures })
      .catch(ignoreError('AlreadyExists'));
  }
}
