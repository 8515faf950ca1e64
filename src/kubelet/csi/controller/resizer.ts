import { core } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { isStatusReason, Quantity } from '#machinery';
import { mergeConditions, type NewCondition } from '../../volumes/claim-conditions.ts';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { ControllerExpandVolume } from '../messages.ts';
import { isBlockVolume, volumeCapability } from '../volume-capability.ts';
import { boundVolume } from './bound-volume.ts';
import { type DriverController, type DriverControllerDeps, leaseName } from './driver-controller.ts';
import { type Expansion, needsExpansion, nextExpansion } from './expansion.ts';
import { InfeasibleRequests } from './infeasible-requests.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

const RESIZING = ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'];
/** On a claim: the expansion needs no work on the node. */
const NO_NODE_EXPANSION = 'volume.kubernetes.io/node-expansion-not-required';
const IN_USE_RETRY_MS = 10_000;
const MISSING_VOLUME_RETRY_MS = 60_000;

/** Expands volumes whose claims request more, like external-resizer. */
export function resizerController(deps: DriverControllerDeps): DriverController {
  const claims = deps.informers.of(core.PersistentVolumeClaim);
  deps.informers.of(core.PersistentVolume);
  const resizer = new Resizer(deps);
  return {
    name: 'resize',
    sidecarLease: leaseName(`external-resizer-${deps.driver.name}`),
    follow(enqueue) {
      const add = (claim: Claim) => {
        if (needsExpansion(claim)) enqueue(keyOf(claim));
      };
      const update = (before: Claim, after: Claim) => {
        if (progressOf(before) !== progressOf(after)) add(after);
      };
      claims.addHandler({ add, update });
    },
    sync: (key) => resizer.sync(key),
  };
}

/** What makes another attempt worthwhile; the controller's own conditions do not. */
function progressOf({ spec, status }: Claim): string {
  const { phase, capacity, allocatedResourceStatuses } = status ?? {};
  return [phase, spec?.resources?.requests?.storage, capacity?.storage, allocatedResourceStatuses?.storage].join();
}

class Resizer {
  readonly #infeasible: InfeasibleRequests;
  /** Claims whose last attempt is certain to have failed, by key. */
  readonly #finalErrors = new Set<string>();
  /** Claims whose volume the driver does not enlarge while a pod uses it, by key. */
  readonly #usedOffline = new Set<string>();

  constructor(private readonly deps: DriverControllerDeps) {
    this.#infeasible = new InfeasibleRequests(deps.clock);
  }

  async sync(key: string): Promise<Requeue | undefined> {
    const { informers, events, driver } = this.deps;
    const claim = informers.of(core.PersistentVolumeClaim).lister.get(parseKey(key));
    if (claim === undefined || !needsExpansion(claim)) return this.#forget(key);
    const volume = boundVolume(claim, this.deps);
    // The cache may lag behind, and no other event triggers a retry.
    if (volume === undefined) return { afterMs: MISSING_VOLUME_RETRY_MS };
    const expansion = nextExpansion({ claim, volume, hasFinalError: this.#finalErrors.has(key), byController: this.#byController });
    if (expansion === undefined) return undefined;
    const delay = expansion.isRetry ? this.#infeasible.delay(key, expansion.size) : undefined;
    if (delay !== undefined) return delay;
    await this.#begin(claim, expansion);
    if (this.#usedOffline.has(key) && (await this.#isUsed(claim))) {
      const subject = `Unable to expand ${key} because CSI driver ${driver.name}`;
      events.warning(claim, 'VolumeResizeFailed', `${subject} only supports offline expansion and volume is currently in-use`);
      return { afterMs: IN_USE_RETRY_MS };
    }
    events.normal(claim, 'Resizing', `External resizer is resizing volume ${volume.metadata.name}`);
    this.#usedOffline.delete(key);
    try {
      await this.#expand(claim, volume, expansion.size);
      return this.#forget(key);
    } catch (error) {
      return this.#failed({ claim, volume, size: expansion.size }, error);
    }
  }

  #forget(key: string): undefined {
    this.#finalErrors.delete(key);
    this.#usedOffline.delete(key);
    this.#infeasible.delete(key);
  }

  get #byController(): boolean {
    return this.deps.capabilities.has('EXPAND_VOLUME');
  }

  /** Recorded before the driver is called: after a crash the same size is requested again. */
  async #begin(claim: Claim, { size, isRetry }: Expansion): Promise<void> {
    const conditions = [{ type: 'Resizing' }];
    if (claim.metadata.annotations?.[NO_NODE_EXPANSION] !== undefined) await this.#annotate(claim, null);
    if (!isRetry) await this.#save(claim, { size, state: 'ControllerResizeInProgress', conditions, removed: RESIZING });
    else if (!claim.status?.conditions?.some(({ type }) => type === 'Resizing')) await this.#save(claim, { conditions });
  }

  async #isUsed({ metadata: { name, namespace } }: Claim): Promise<boolean> {
    const { items } = await this.deps.client.of(core.Pod).list({ namespace });
    return items.some(({ spec, status }) => {
      const isOver = status?.phase === 'Failed' || status?.phase === 'Succeeded';
      return !isOver && spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name) === true;
    });
  }

  async #failed({ claim, volume, size }: Attempt, error: unknown): Promise<Requeue> {
    const { driver, events } = this.deps;
    const key = keyOf(claim);
    const csiError = error instanceof CsiError ? error : undefined;
    if (csiError?.code === 'FailedPrecondition') this.#usedOffline.add(key);
    if (csiError === undefined || csiError.isUncertain) this.#finalErrors.delete(key);
    else {
      this.#finalErrors.add(key);
      const conditions = [{ type: 'ControllerResizeError', message: `failed to expand pvc with ${messageOf(error)}` }];
      await this.#save(claim, { conditions, ...(csiError.isInfeasible && { state: 'ControllerResizeInfeasible' }) });
    }
    if (!isStatusReason(error, 'Conflict')) {
      const message = `resize volume "${volume.metadata.name}" by resizer "${driver.name}" failed: ${messageOf(error)}`;
      events.warning(claim, 'VolumeResizeFailed', message);
    }
    if (csiError?.isInfeasible) return this.#infeasible.add(key, size);
    this.#infeasible.delete(key);
    throw error;
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
    await this.#annotate(claim, 'true');
    await this.#save(claim, { capacity: storage, state: null, conditions: [], removed: RESIZING });
    events.normal(claim, 'VolumeResizeSuccessful', 'Resize volume succeeded');
  }

  async #callDriver(volume: Volume, size: string): Promise<{ readonly bytes: number; readonly needsNode: boolean }> {
    const { driver, client, capabilities } = this.deps;
    const requiredBytes = Quantity.parse(size).value();
    // The driver expands on nodes only.
    if (!this.#byController) {
      if (await driver.hasNodeCapability('EXPAND_VOLUME')) return { bytes: requiredBytes, needsNode: true };
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

  async #annotate({ metadata }: Claim, value: string | null): Promise<void> {
    await this.deps.client.of(core.PersistentVolumeClaim).patch(metadata, { metadata: { annotations: { [NO_NODE_EXPANSION]: value } } });
  }

  /** The conditions are those of the current claim: an attempt writes several times. */
  async #save({ metadata }: Claim, { size, state, capacity, conditions, removed }: Progress): Promise<void> {
    const claims = this.deps.client.of(core.PersistentVolumeClaim);
    const current = await claims.get(metadata);
    const status = {
      conditions: mergeConditions(current, { conditions, nowMs: this.deps.clock.now(), ...(removed && { removed }) }),
      ...(size !== undefined && { allocatedResources: { storage: size } }),
      ...(state !== undefined && { allocatedResourceStatuses: { storage: state } }),
      ...(capacity !== undefined && { capacity: { storage: capacity } }),
    };
    const { resourceVersion, uid } = current.metadata;
    await claims.patch(metadata, { metadata: { resourceVersion, uid }, status }, { subresource: 'status' });
  }
}

interface Attempt {
  readonly claim: Claim;
  readonly volume: Volume;
  readonly size: string;
}

interface Progress {
  readonly size?: string;
  /** null: cleared. */
  readonly state?: string | null;
  readonly capacity?: string;
  readonly conditions: readonly NewCondition[];
  readonly removed?: readonly string[];
}
