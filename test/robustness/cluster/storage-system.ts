import { core, storage } from '#api';
import { type Clock, type Component, type Random, repeat, runComponent } from '#base';
import type { Client } from '#client';
import type { LocalBackend } from '#kubelet';
import { isStatusReason } from '#machinery';

export const DRIVER = 'disk.example.com';
const FINALIZER = 'external-attacher/disk-example-com';
const PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
const LOOK_EVERY_MS = 500;
const FAILURES = 0.1;

/** A simulated storage system and the nodes' disks. Requests that the cluster must never send are collected in `faults`. */
export class StorageSystem {
  readonly faults: string[] = [];
  /** The nodes of each volume's attachments. */
  readonly attached = new Map<string, Set<string>>();
  readonly volumes = new Set<string>();
  readonly localVolumes = new Set<string>();

  constructor(
    private readonly random: Random,
    /** Whether a container on the node uses the volume. */
    private readonly isUsed: (volume: string, node: string) => Promise<boolean>,
    /** Whether an existing claim is bound to the volume. */
    private readonly isBound: (volume: string) => Promise<boolean>,
  ) {}

  get leftovers(): readonly string[] {
    const attached = [...this.attached].flatMap(([volume, nodes]) => [...nodes].map((node) => `${volume} is attached to ${node}`));
    return [...this.volumes, ...this.localVolumes, ...attached];
  }

  attach(volume: string, node: string): void {
    this.#fail('attach');
    const nodes = this.attached.get(volume) ?? new Set();
    this.attached.set(volume, nodes.add(node));
    if (nodes.size > 1) this.faults.push(`${volume} is attached to ${[...nodes].join(' and ')}`);
    this.#fail('attach');
  }

  async detach(volume: string, node: string): Promise<void> {
    this.#fail('detach');
    if (await this.isUsed(volume, node)) this.faults.push(`${volume} was detached from ${node}, where a container uses it`);
    this.attached.get(volume)?.delete(node);
    this.#fail('detach');
  }

  async remove(volume: string, from: Set<string>): Promise<void> {
    this.#fail('remove');
    if (from.has(volume) && (await this.isBound(volume))) this.faults.push(`${volume} was removed while a claim had it`);
    from.delete(volume);
    this.#fail('remove');
  }

  /** A node's disk: calls fail at random, before or after they took effect. */
  localBackend(): LocalBackend {
    const nothing = async () => {};
    const unfinished = new Set<string>();
    return {
      path: (name) => `/disk/${name}`,
      create: async ({ name }) => {
        this.#fail('create');
        unfinished.add(name);
        this.localVolumes.add(name);
        this.#fail('create');
      },
      commit: async (name) => void unfinished.delete(name),
      ...{ ensureMounted: nothing, expand: nothing, release: nothing },
      remove: async (name) => {
        await this.remove(name, this.localVolumes);
        unfinished.delete(name);
      },
      unfinished: async () => [...unfinished],
    };
  }

  #fail(what: string): void {
    if (this.random.float() < FAILURES) throw new Error(`${what} failed, or its answer was lost`);
  }
}

export interface SidecarDeps {
  readonly client: Client;
  readonly clock: Clock;
}

/** A minimal provisioner and attacher: they poll twice a second. */
export function startSidecars(system: StorageSystem, deps: SidecarDeps): Component {
  return runComponent(undefined, async ({ signal, ready }) => {
    ready();
    const look = async () => {
      for (const duty of [provision, remove, attach]) await duty(system, deps.client).catch(() => {});
    };
    await repeat({ clock: deps.clock, signal, intervalMs: LOOK_EVERY_MS, onError: () => {} }, look);
  });
}

async function provision(system: StorageSystem, client: Client): Promise<void> {
  for (const claim of (await client.of(core.PersistentVolumeClaim).list()).items) {
    const { metadata, spec } = claim;
    if (metadata.annotations?.[PROVISIONER] !== DRIVER || spec?.volumeName || metadata.deletionTimestamp !== undefined) continue;
    const name = `pvc-${metadata.uid}`;
    system.volumes.add(name);
    await client.of(core.PersistentVolume).create(newVolume(name, claim)).catch(ignore('AlreadyExists'));
  }
}

function newVolume(name: string, { metadata, spec }: core.PersistentVolumeClaim): core.PersistentVolume {
  const { namespace = '', uid = '' } = metadata;
  return {
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': DRIVER } },
    spec: {
      ...{ accessModes: spec?.accessModes ?? [], capacity: { storage: '1Gi' }, storageClassName: spec?.storageClassName ?? '' },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: metadata.name, namespace, uid },
      csi: { driver: DRIVER, volumeHandle: name },
      persistentVolumeReclaimPolicy: 'Delete',
    },
  };
}

async function remove(system: StorageSystem, client: Client): Promise<void> {
  const volumes = client.of(core.PersistentVolume);
  for (const { metadata, spec, status } of (await volumes.list()).items) {
    if (spec?.csi === undefined || status?.phase !== 'Released' || (system.attached.get(metadata.name)?.size ?? 0) > 0) continue;
    await system.remove(metadata.name, system.volumes);
    await volumes.delete({ name: metadata.name }).catch(ignore('NotFound'));
  }
}

async function attach(system: StorageSystem, client: Client): Promise<void> {
  const attachments = client.of(storage.VolumeAttachment);
  for (const { metadata, spec, status } of (await attachments.list()).items) {
    const volume = spec.source.persistentVolumeName ?? '';
    const { name, resourceVersion, finalizers = [] } = metadata;
    const hold = (next: readonly string[]) => attachments.patch({ name }, { metadata: { finalizers: next, resourceVersion } });
    if (metadata.deletionTimestamp !== undefined) {
      await system.detach(volume, spec.nodeName);
      await hold(finalizers.filter((finalizer) => finalizer !== FINALIZER)).catch(ignore('NotFound'));
    } else if (status?.attached !== true) {
      if (!finalizers.includes(FINALIZER)) await hold([...finalizers, FINALIZER]);
      system.attach(volume, spec.nodeName);
      await attachments.patch({ name }, { status: { attached: true } }, { subresource: 'status' });
    }
  }
}

function ignore(reason: 'AlreadyExists' | 'NotFound'): (error: unknown) => void {
  return (error) => {
    if (!isStatusReason(error, reason)) throw error;
  };
}
