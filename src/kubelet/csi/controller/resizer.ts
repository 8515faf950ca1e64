import { core } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { Quantity } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { ControllerExpandVolume } from '../messages.ts';
import { isBlockVolume, volumeCapability } from '../volume-capability.ts';
import { boundVolume } from './bound-volume.ts';
import { type NewCondition, replaceConditions } from './claim-conditions.ts';
import { type DriverController, type DriverControllerDeps, leaseName } from './driver-controller.ts';
import { InfeasibleRequests } from './infeasible-requests.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

const RESIZING = ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'];
/** On a claim: the expansion needs no work on the node. */
const NO_NODE_EXPANSION = 'volume.kubernetes.io/node-expansion-not-required';
const NODE_STATES: readonly (string | undefined)[] = ['NodeResizePending', 'NodeResizeInProgress'];

/** Expands volumes whose claims request more, like external-resizer. */
export function resizerController(deps: DriverControllerDeps): DriverController {
  const claims = deps.informers.of(core.PersistentVolumeClaim);
  deps.informers.of(core.PersistentVolume);
  const resizer = new Resizer(deps);
  return {
    name: 'resize',
    sidecarLease: leaseName(`external-resizer-${deps.driver.name}`),
    follow(enqueue) {
      const add = (claim: Claim) => targetSize(claim) !== undefined && enqueue(keyOf(claim));
      claims.addHandler({ add, update: (_, claim) => add(claim) });
    },
    sync: (key) => resizer.sync(key),
  };
}

/** The requested size of a bound claim that exceeds its capacity, unless a node is expanding it. */
export function targetSize({ spec, status }: Claim): string | undefined {
  const requested = spec?.resources?.requests?.storage ?? '0';
  const isWaitingForNode = NODE_STATES.includes(status?.allocatedResourceStatuses?.storage);
  if (status?.phase !== 'Bound' || isWaitingForNode) return undefined;
  return compare(requested, status.capacity?.storage ?? '0') > 0 ? requested : undefined;
}

function isBegun({ spec, status }: Claim): boolean {
  const { storage } = status?.allocatedResources ?? {};
  return storage !== undefined && compare(storage, spec?.resources?.requests?.storage ?? '0') === 0;
}

function compare(a: string, b: string): number {
  return Quantity.parse(a).compare(Quantity.parse(b));
}

class Resizer {
  readonly #infeasible: InfeasibleRequests;

  constructor(private readonly deps: DriverControllerDeps) {
    this.#infeasible = new InfeasibleRequests(deps.clock);
  }

  async sync(key: string): Promise<Requeue | undefined> {
    const { informers, events } = this.deps;
    const claim = informers.of(core.PersistentVolumeClaim).lister.get(parseKey(key));
    const size = claim && targetSize(claim);
    if (claim === undefined || size === undefined) return undefined;
    const volume = boundVolume(claim, this.deps);
    if (volume === undefined) return undefined;
    const delay = this.#infeasible.delay(key, size);
    if (delay !== undefined) return delay;
    // Retries are not reported again: each write would trigger another sync.
    if (!isBegun(claim)) await this.#save(claim, { size, state: 'ControllerResizeInProgress', conditions: [{ type: 'Resizing' }] });
    events.normal(claim, 'Resizing', `External resizer is resizing volume ${volume.metadata.name}`);
    try {
      await this.#expand(claim, volume, size);
      return undefined;
    } catch (error) {
      return this.#failed(claim, volume, error);
    }
  }

  async #failed(claim: Claim, volume: Volume, error: unknown): Promise<Requeue> {
    const { driver, events } = this.deps;
    const message = `resize volume "${volume.metadata.name}" by resizer "${driver.name}" failed: ${messageOf(error)}`;
    events.warning(claim, 'VolumeResizeFailed', message);
    const isFinal = error instanceof CsiError && error.isInfeasible;
    const conditions = [{ type: 'Resizing' }, { type: 'ControllerResizeError', message: `failed to expand pvc with ${messageOf(error)}` }];
    await this.#save(claim, { conditions, ...(isFinal && { state: 'ControllerResizeInfeasible' }) });
    if (!isFinal) throw error;
    return this.#infeasible.add(keyOf(claim), claim.spec?.resources?.requests?.storage ?? '');
  }

  async #expand(claim: Claim, volume: Volume, size: string): Promise<void> {
    const { client, events } = this.deps;
    const { bytes, needsNode } = await this.#callDriver(volume, size);
    const storage = Quantity.of(bytes, 'BinarySI').toString();
    await client.of(core.PersistentVolume).patch({ name: volume.metadata.name }, { spec: { capacity: { storage } } });
    if (needsNode) {
      const message = 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.';
      await this.#save(claim, { state: 'NodeResizePending', conditions: [{ type: 'FileSystemResizePending', message }] });
      events.normal(claim, 'FileSystemResizeRequired', 'Require file system resize of volume on node');
      return;
    }
    const claims = client.of(core.PersistentVolumeClaim);
    await claims.patch(claim.metadata, { metadata: { annotations: { [NO_NODE_EXPANSION]: 'true' } } });
    await this.#save(claim, { capacity: storage, state: null, conditions: [] });
    events.normal(claim, 'VolumeResizeSuccessful', 'Resize volume succeeded');
  }

  async #callDriver(volume: Volume, size: string): Promise<{ readonly bytes: number; readonly needsNode: boolean }> {
    const { driver, client, capabilities } = this.deps;
    const requiredBytes = Quantity.parse(size).value();
    // The driver expands on nodes only.
    if (!capabilities.has('EXPAND_VOLUME')) {
      if (await driver.canOnNode('EXPAND_VOLUME')) return { bytes: requiredBytes, needsNode: true };
      throw new Error('the driver does not enlarge volumes');
    }
    const { csi, accessModes = [], mountOptions = [] } = volume.spec ?? {};
    const isBlock = isBlockVolume(volume);
    const knowsSingleNodeModes = capabilities.has('SINGLE_NODE_MULTI_WRITER');
    const { capacityBytes, nodeExpansionRequired } = await driver.call(ControllerExpandVolume, {
      ...{ volumeId: csi?.volumeHandle ?? '', capacityRange: { requiredBytes } },
      secrets: await csiSecrets(csi?.controllerExpandSecretRef, client),
      volumeCapability: volumeCapability({ accessModes, mountOptions, isBlock, fsType: csi?.fsType ?? '', knowsSingleNodeModes }),
    });
    if (capacityBytes < requiredBytes) throw new Error(`the driver enlarged the volume to ${capacityBytes} of ${requiredBytes} bytes`);
    return { bytes: capacityBytes, needsNode: nodeExpansionRequired };
  }

  async #save(claim: Claim, progress: Progress): Promise<void> {
    const { size, state, capacity } = progress;
    const conditions = replaceConditions(claim, RESIZING, { conditions: progress.conditions, nowMs: this.deps.clock.now() });
    const status = {
      conditions,
      ...(size !== undefined && { allocatedResources: { storage: size } }),
      ...(state !== undefined && { allocatedResourceStatuses: { storage: state } }),
      ...(capacity !== undefined && { capacity: { storage: capacity } }),
    };
    await this.deps.client.of(core.PersistentVolumeClaim).patch(claim.metadata, { status }, { subresource: 'status' });
  }
}

interface Progress {
  readonly size?: string;
  /** null: cleared. */
  readonly state?: string | null;
  readonly capacity?: string;
  readonly conditions: readonly NewCondition[];
}
