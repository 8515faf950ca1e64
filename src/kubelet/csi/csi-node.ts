import { core, storage } from '#api';
import { AsyncMutex, type Clock } from '#base';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import type { CsiControllers } from './controller/csi-controllers.ts';
import { CsiDriver, type CsiDrivers, type CsiNodeInfo } from './csi-drivers.ts';
import type { PluginHandler } from './plugin-registry.ts';

export interface CsiNodeDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodeName: string;
  readonly drivers: CsiDrivers;
  /** Runs the controller services of drivers on this node. Absent: sidecars do. */
  readonly controllers?: CsiControllers | undefined;
}

const NODE_ID_ANNOTATION = 'csi.volume.kubernetes.io/nodeid';
const CONFLICT_TRIES = 10;

/** Registers CSI drivers: in this kubelet, in the node's CSINode object, and on the node (its id and topology). */
export function csiPluginHandler(deps: CsiNodeDeps): PluginHandler {
  const { drivers, clock, controllers } = deps;
  /** Serializes changes of the objects that all drivers share. */
  const objects = new AsyncMutex();
  return {
    async register({ name, endpoint, supportedVersions }, signal) {
      if (!supportedVersions.some((version) => /^v?1(\.|$)/.test(version))) {
        throw new Error(
          `none of the CSI versions ${supportedVersions.join(', ')} of driver ${name} is supported; this kubelet speaks version 1`,
        );
      }
      await controllers?.end(name);
      const driver = new CsiDriver(name, endpoint, clock);
      try {
        const info = await driver.nodeInfo(signal);
        await objects.run(async () => {
          await labelNode(name, info, deps);
          await updateCsiNode(deps, (entries) => [...entries.filter((entry) => entry.name !== name), driverEntry(name, info)]);
        });
      } catch (error) {
        driver[Symbol.dispose]();
        throw error;
      }
      drivers.add(driver);
      // The node service works without it.
      void controllers?.begin(driver);
    },
    async deregister({ name }) {
      await controllers?.end(name);
      drivers.remove(name);
      await objects.run(() => updateCsiNode(deps, (entries) => entries.filter((entry) => entry.name !== name)));
    },
  };
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

async function labelNode(name: string, { nodeId, topology }: CsiNodeInfo, { client, nodeName }: CsiNodeDeps): Promise<void> {
  const nodes = client.of(core.Node);
  const node = await nodes.get({ name: nodeName });
  const ids = parseIds(node.metadata.annotations?.[NODE_ID_ANNOTATION]);
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(topology?.segments ?? {})) {
    const before = node.metadata.labels?.[key];
    if (before !== undefined && before !== value)
      throw new Error(`detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${before}"`);
    if (before === undefined) labels[key] = value;
  }
  if (ids[name] === nodeId && Object.keys(labels).length === 0) return;
  const annotations = { [NODE_ID_ANNOTATION]: JSON.stringify({ ...ids, [name]: nodeId }) };
  await nodes.patch({ name: nodeName }, { metadata: { annotations, labels } });
}

function parseIds(text: string | undefined): Record<string, string> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
  } catch {
    // The kubelet owns the annotation: malformed content is replaced.
    return {};
  }
}

type Change = (entries: readonly storage.CSINodeDriver[]) => readonly storage.CSINodeDriver[];

async function updateCsiNode({ client, nodeName }: CsiNodeDeps, change: Change): Promise<void> {
  const csiNodes = client.of(storage.CSINode);
  for (let tries = 1; ; tries++) {
    try {
      const current = await csiNodes.get({ name: nodeName }).catch(ignoreMissing);
      if (current !== undefined) {
        const drivers = change(current.spec?.drivers ?? []);
        if (JSON.stringify(drivers) !== JSON.stringify(current.spec?.drivers ?? []))
          await csiNodes.update({ ...current, spec: { drivers: [...drivers] } });
        return;
      }
      const { uid } = (await client.of(core.Node).get({ name: nodeName })).metadata;
      const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: uid ?? '' };
      await csiNodes.create({ metadata: { name: nodeName, ownerReferences: [owner] }, spec: { drivers: [...change([])] } });
      return;
    } catch (error) {
      const isRace = isStatusReason(error, 'Conflict') || isStatusReason(error, 'AlreadyExists');
      if (!isRace || tries >= CONFLICT_TRIES) throw error;
    }
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isStatusReason(error, 'NotFound')) throw error;
  return undefined;
}
