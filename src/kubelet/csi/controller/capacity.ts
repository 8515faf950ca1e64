import { createHash } from 'node:crypto';
import { core, storage } from '#api';
import type { Requeue } from '#base';
import { deepEqual, Quantity } from '#machinery';
import { GetCapacity } from '../messages.ts';
import { type DriverController, type DriverControllerDeps, ignoreError, leaseName } from './driver-controller.ts';
import { PROVISIONED_BY } from './provision-request.ts';
import { type Segments, topologyKeysOf } from './topology.ts';

const NAMESPACE = 'kube-system';
const REFRESH_MS = 60_000;
const MANAGED_BY = 'csi.storage.k8s.io/managed-by';
const DRIVER_LABEL = 'csi.storage.k8s.io/drivername';
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const ALL = 'all';

/** Publishes the driver's storage capacity for the scheduler, like external-provisioner. */
export function capacityController(deps: DriverControllerDeps): DriverController {
  const { informers, driver } = deps;
  const drivers = informers.of(storage.CSIDriver);
  const classes = informers.of(storage.StorageClass);
  const csiNodes = informers.of(storage.CSINode);
  const nodes = informers.of(core.Node);
  const publisher = new CapacityPublisher(deps);
  return {
    name: 'capacity',
    sidecarLease: leaseName(driver.name),
    follow(enqueue) {
      const refresh = () => enqueue(ALL);
      publisher.enqueue = enqueue;
      for (const informer of [drivers, classes]) informer.addHandler({ add: refresh, delete: refresh, update: refresh });
      const keysOf = (csiNode: storage.CSINode) => topologyKeysOf(csiNode, driver.name)?.join();
      csiNodes.addHandler({ add: refresh, delete: refresh, update: (a, b) => void (keysOf(a) === keysOf(b) || refresh()) });
      const isSamePlace = (a: core.Node, b: core.Node) => deepEqual(a.metadata.labels, b.metadata.labels);
      nodes.addHandler({ add: refresh, delete: refresh, update: (a, b) => void (isSamePlace(a, b) || refresh()) });
      // Each volume that is created or deleted, or cannot be created where the scheduler wanted it, changes the capacity or shows that it changed.
      const volumeChanged = ({ metadata }: core.PersistentVolume) => {
        if (metadata.annotations?.[PROVISIONED_BY] === driver.name) refresh();
      };
      informers.of(core.PersistentVolume).addHandler({ add: volumeChanged, delete: volumeChanged });
      const hasNode = ({ metadata }: core.PersistentVolumeClaim) => metadata.annotations?.[SELECTED_NODE] !== undefined;
      const update = (before: core.PersistentVolumeClaim, after: core.PersistentVolumeClaim) => {
        if (hasNode(before) && !hasNode(after)) refresh();
      };
      informers.of(core.PersistentVolumeClaim).addHandler({ update });
    },
    sync: (key) => (key === ALL ? publisher.syncAll() : publisher.sync(key)),
  };
}

/** One object per storage class of the driver and topology segment. */
interface Capacity {
  readonly name: string;
  readonly storageClassName: string;
  readonly segments: Segments;
}

class CapacityPublisher {
  enqueue: (key: string) => void = () => {};
  /** By the name of the object. */
  #desired: ReadonlyMap<string, Capacity> = new Map();

  constructor(private readonly deps: DriverControllerDeps) {}

  /** Each object has a sync of its own: a class that the driver rejects must not hold up others. */
  async syncAll(): Promise<Requeue | undefined> {
    const { driver, client } = this.deps;
    this.#desired = new Map(this.#capacities().map((capacity) => [capacity.name, capacity]));
    for (const name of this.#desired.keys()) this.enqueue(name);
    const capacities = client.of(storage.CSIStorageCapacity);
    const labelSelector = `${DRIVER_LABEL}=${driver.name},${MANAGED_BY}=sampan`;
    const { items } = await capacities.list({ namespace: NAMESPACE, labelSelector });
    for (const { metadata } of items) {
      if (!this.#desired.has(metadata.name)) await capacities.delete(metadata).catch(ignoreError('NotFound'));
    }
    return this.#desired.size > 0 ? { afterMs: REFRESH_MS } : undefined;
  }

  #capacities(): readonly Capacity[] {
    const { informers, driver } = this.deps;
    const { spec } = informers.of(storage.CSIDriver).lister.get({ name: driver.name }) ?? {};
    if (spec?.storageCapacity !== true) return [];
    const allClasses = informers.of(storage.StorageClass).lister.list();
    // The scheduler has no say in where the volumes of the others are.
    const classes = allClasses.filter(
      ({ provisioner, volumeBindingMode }) => provisioner === driver.name && volumeBindingMode === 'WaitForFirstConsumer',
    );
    const topologies = Array.from(this.#topologies());
    return classes.flatMap(({ metadata }) =>
      topologies.map(([key, segments]) => {
        const hash = createHash('sha256').update(`${driver.name}\n${metadata.name}\n${key}`).digest('hex').slice(0, 16);
        return { name: `csisc-${hash}`, storageClassName: metadata.name, segments };
      }),
    );
  }

  /** The segments of all nodes that have the driver: none, and so everywhere, for a driver without topology keys. */
  #topologies(): ReadonlyMap<string, Segments> {
    const { informers, driver } = this.deps;
    const topologies = new Map<string, Segments>();
    for (const csiNode of informers.of(storage.CSINode).lister.list()) {
      const keys = topologyKeysOf(csiNode, driver.name);
      const node = informers.of(core.Node).lister.get({ name: csiNode.metadata.name });
      if (keys === undefined || node === undefined) continue;
      const labels = node.metadata.labels ?? {};
      const entries = [...keys].sort().map((key) => [key, labels[key]] as const);
      // The kubelet has not labelled the node yet.
      if (entries.some(([, value]) => value === undefined)) continue;
      topologies.set(JSON.stringify(entries), Object.fromEntries(entries) as Segments);
    }
    return topologies;
  }

  async sync(name: string): Promise<undefined> {
    const { informers, driver, client } = this.deps;
    const { storageClassName, segments } = this.#desired.get(name) ?? {};
    const storageClass = informers.of(storage.StorageClass).lister.get({ name: storageClassName ?? '' });
    if (storageClass === undefined || segments === undefined || storageClassName === undefined) return;
    const { availableCapacity, maximumVolumeSize } = await driver.call(GetCapacity, {
      ...{ parameters: storageClass.parameters ?? {}, volumeCapabilities: [], accessibleTopology: { segments } },
    });
    const figures = {
      capacity: Quantity.of(availableCapacity, 'BinarySI').toString(),
      maximumVolumeSize: maximumVolumeSize && Quantity.of(maximumVolumeSize.value, 'BinarySI').toString(),
    };
    const capacities = client.of(storage.CSIStorageCapacity);
    const before = await capacities.get({ name, namespace: NAMESPACE }).catch(ignoreError('NotFound'));
    if (before !== undefined) {
      if (before.capacity === figures.capacity && before.maximumVolumeSize === figures.maximumVolumeSize) return;
      await capacities.patch(before.metadata, { ...figures, maximumVolumeSize: figures.maximumVolumeSize ?? null });
      return;
    }
    const metadata = { name, namespace: NAMESPACE, labels: { [DRIVER_LABEL]: driver.name, [MANAGED_BY]: 'sampan' } };
    const { capacity, maximumVolumeSize: largest } = figures;
    const object = { metadata, storageClassName, nodeTopology: { matchLabels: segments }, capacity };
    await capacities
      .create({ ...object, ...(largest !== undefined && { maximumVolumeSize: largest }) })
      .catch(ignoreError('AlreadyExists'));
  }
}
