import { core, storage } from '#api';
import { AsyncMutex } from '#base';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import type { CsiNodeInfo } from './csi-drivers.ts';

export interface CsiNodeObjectDeps {
  readonly client: Client;
  readonly nodeName: string;
}

type Entries = readonly storage.CSINodeDriver[];
type Change = (entries: Entries) => Entries;

const NODE_ID_ANNOTATION = 'csi.volume.kubernetes.io/nodeid';
const CONFLICT_TRIES = 10;

/** What the API knows of the CSI drivers on a node: the entries of its CSINode object, and its ids and topology in labels and annotations. */
export class CsiNodeObject {
  /** Serializes changes of the objects that all drivers share. */
  readonly #lock = new AsyncMutex();

  constructor(private readonly deps: CsiNodeObjectDeps) {}

  add(name: string, info: CsiNodeInfo): Promise<void> {
    return this.#lock.run(async () => {
      await this.#labelNode(name, info);
      await this.#update((entries) => [...entries.filter((entry) => entry.name !== name), driverEntry(name, info)]);
    });
  }

  /** A driver may change the number of volumes that it can attach; it keeps its id and topology while it is registered. */
  refresh(name: string, info: CsiNodeInfo): Promise<void> {
    return this.#lock.run(() => this.#update((entries) => entries.map((entry) => (entry.name === name ? driverEntry(name, info) : entry))));
  }

  remove(name: string): Promise<void> {
    return this.#lock.run(async () => {
      await this.#update((entries) => entries.filter((entry) => entry.name !== name));
      await this.#forgetId(name);
    });
  }

  async #labelNode(name: string, { nodeId, topology }: CsiNodeInfo): Promise<void> {
    const { metadata } = await this.#node();
    const ids = parseIds(metadata);
    const labels: Record<string, string> = {};
    for (const [key, value] of Object.entries(topology?.segments ?? {})) {
      const before = metadata.labels?.[key];
      if (before !== undefined && before !== value)
        throw new Error(
          `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${before}"`,
        );
      if (before === undefined) labels[key] = value;
    }
    if (ids[name] === nodeId && Object.keys(labels).length === 0) return;
    await this.#patchNode({ annotations: { [NODE_ID_ANNOTATION]: JSON.stringify({ ...ids, [name]: nodeId }) }, labels });
  }

  async #forgetId(name: string): Promise<void> {
    const { [name]: id, ...others } = parseIds((await this.#node()).metadata);
    if (id === undefined) return;
    const value = Object.keys(others).length > 0 ? JSON.stringify(others) : null;
    await this.#patchNode({ annotations: { [NODE_ID_ANNOTATION]: value } });
  }

  #node(): Promise<core.Node> {
    return this.deps.client.of(core.Node).get({ name: this.deps.nodeName });
  }

  async #patchNode(metadata: object): Promise<void> {
    await this.deps.client.of(core.Node).patch({ name: this.deps.nodeName }, { metadata });
  }

  async #update(change: Change): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#updateOnce(change);
      } catch (error) {
        const isRace = isStatusReason(error, 'Conflict') || isStatusReason(error, 'AlreadyExists');
        if (!isRace || tries >= CONFLICT_TRIES) throw error;
      }
    }
  }

  async #updateOnce(change: Change): Promise<void> {
    const { client, nodeName: name } = this.deps;
    const csiNodes = client.of(storage.CSINode);
    const current = await csiNodes.get({ name }).catch(ignoreMissing);
    if (current === undefined) {
      const { uid = '' } = (await this.#node()).metadata;
      const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
      await csiNodes.create({ metadata: { name, ownerReferences }, spec: { drivers: [...change([])] } });
      return;
    }
    const drivers = change(current.spec?.drivers ?? []);
    if (JSON.stringify(drivers) !== JSON.stringify(current.spec?.drivers ?? []))
      await csiNodes.update({ ...current, spec: { drivers: [...drivers] } });
  }
}

function driverEntry(name: string, { nodeId, maxVolumesPerNode, topology }: CsiNodeInfo): storage.CSINodeDriver {
  const topologyKeys = Object.keys(topology?.segments ?? {}).sort();
  return {
    name,
    nodeID: nodeId,
    ...(topologyKeys.length > 0 && { topologyKeys }),
    ...(maxVolumesPerNode > 0 && { allocatable: { count: maxVolumesPerNode } }),
  };
}

function parseIds({ annotations }: core.Node['metadata']): Record<string, string> {
  try {
    const value: unknown = JSON.parse(annotations?.[NODE_ID_ANNOTATION] ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
  } catch {
    // The kubelet owns the annotation: malformed content is replaced.
    return {};
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isStatusReason(error, 'NotFound')) throw error;
  return undefined;
}
