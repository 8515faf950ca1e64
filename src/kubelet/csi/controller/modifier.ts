import { core, storage } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { mergeConditions, type NewCondition } from '../../volumes/claim-conditions.ts';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { ControllerModifyVolume } from '../messages.ts';
import { boundVolume } from './bound-volume.ts';
import { type DriverController, type DriverControllerDeps, leaseName } from './driver-controller.ts';
import { InfeasibleRequests } from './infeasible-requests.ts';
import { nextModification } from './modification.ts';
import { modifySecret } from './provision-request.ts';

type Claim = core.PersistentVolumeClaim;

const MODIFYING = 'ModifyingVolume';
const FAILED = 'ModifyVolumeError';

/** Modifies volumes whose claims name another VolumeAttributesClass, like external-resizer. */
export function modifierController(deps: DriverControllerDeps): DriverController {
  const claims = deps.informers.of(core.PersistentVolumeClaim);
  const classes = deps.informers.of(storage.VolumeAttributesClass);
  deps.informers.of(core.PersistentVolume);
  const modifier = new Modifier(deps);
  return {
    name: 'modify',
    sidecarLease: leaseName(`external-resizer-${deps.driver.name}`),
    follow(enqueue) {
      const add = (claim: Claim) => {
        if (nextModification(claim, true).type !== 'none') enqueue(keyOf(claim));
      };
      const update = (before: Claim, after: Claim) => {
        if (desiredClass(before) !== desiredClass(after) || isFinished(before) !== isFinished(after)) add(after);
      };
      claims.addHandler({ add, update });
      classes.addHandler({
        add: ({ metadata }) => {
          for (const claim of claims.lister.list()) if (claim.spec?.volumeAttributesClassName === metadata.name) add(claim);
        },
      });
    },
    sync: (key) => modifier.sync(key),
  };
}

function desiredClass({ spec, status }: Claim): string {
  return `${status?.phase}/${spec?.volumeAttributesClassName ?? ''}`;
}

function isFinished({ status }: Claim): boolean {
  return status?.modifyVolumeStatus === undefined;
}

class Modifier {
  readonly #infeasible: InfeasibleRequests;
  /** Claims whose last attempt is certain to have failed, by key. */
  readonly #finalErrors = new Set<string>();

  constructor(private readonly deps: DriverControllerDeps) {
    this.#infeasible = new InfeasibleRequests(deps.clock);
  }

  async sync(key: string): Promise<Requeue | undefined> {
    const { informers } = this.deps;
    const claim = informers.of(core.PersistentVolumeClaim).lister.get(parseKey(key));
    const volume = claim && boundVolume(claim, this.deps);
    if (claim === undefined || volume === undefined) return this.#forget(key);
    // After a restart the outcome of an attempt in progress is uncertain.
    const next = nextModification(claim, !this.#finalErrors.has(key));
    if (next.type === 'none') return this.#forget(key);
    if (next.type === 'cancel') return this.#cancel(claim);
    const delay = this.#infeasible.delay(key, next.target);
    if (delay !== undefined) return delay;
    const target = informers.of(storage.VolumeAttributesClass).lister.get({ name: next.target });
    if (target === undefined) return this.#missingClass(claim, next);
    if (next.type === 'start') await this.#start(claim, next.target);
    try {
      await this.#modify(claim, volume, target);
      return this.#forget(key);
    } catch (error) {
      return this.#failed(claim, next.target, error);
    }
  }

  #forget(key: string): undefined {
    this.#finalErrors.delete(key);
    this.#infeasible.delete(key);
  }

  async #cancel(claim: Claim): Promise<undefined> {
    if (!claim.status?.conditions?.some(({ type }) => type === MODIFYING)) return;
    this.deps.events.normal(claim, 'VolumeModifyCanceled', 'Cancelled modify.');
    await this.#save(claim, { conditions: [], removed: [MODIFYING] });
  }

  /** An attempt in progress is not reverted: it continues when the class exists again. */
  async #missingClass(claim: Claim, next: { readonly type: 'start' | 'continue'; readonly target: string }): Promise<undefined> {
    this.deps.events.warning(claim, 'VolumeModifyFailed', `VAC "${next.target}" does not exist.`);
    if (next.type === 'continue') throw new Error(`VolumeAttributesClass "${next.target}" does not exist`);
    if (claim.status?.modifyVolumeStatus?.status !== 'Pending') await this.#save(claim, { state: 'Pending', conditions: [] });
  }

  async #start(claim: Claim, target: string): Promise<void> {
    const conditions = [{ type: MODIFYING, message: `Modifying volume to "${target}" is in progress.` }];
    await this.#save(claim, { target, state: 'InProgress', conditions });
    this.deps.events.normal(claim, 'VolumeModify', `external resizer is modifying volume ${claim.metadata.name} with vac ${target}`);
  }

  async #modify(claim: Claim, volume: core.PersistentVolume, target: storage.VolumeAttributesClass): Promise<void> {
    const { driver, client, events } = this.deps;
    const { name } = target.metadata;
    if (target.driverName !== driver.name) throw new Error(`VAC "${name}" is for driver ${target.driverName}, not ${driver.name}`);
    await driver.call(ControllerModifyVolume, {
      volumeId: volume.spec?.csi?.volumeHandle ?? '',
      secrets: await csiSecrets(modifySecret(volume), client),
      mutableParameters: target.parameters ?? {},
    });
    await client.of(core.PersistentVolume).patch({ name: volume.metadata.name }, { spec: { volumeAttributesClassName: name } });
    await this.#save(claim, { current: name, state: null, conditions: [], removed: [MODIFYING, FAILED] });
    events.normal(claim, 'VolumeModifySuccessful', `external resizer modified volume ${claim.metadata.name} with vac ${name} successfully`);
  }

  async #failed(claim: Claim, target: string, error: unknown): Promise<Requeue> {
    const { events } = this.deps;
    const key = keyOf(claim);
    if (!(error instanceof CsiError)) {
      events.warning(claim, 'VolumeModifyFailed', messageOf(error));
      throw error;
    }
    const { code, description, isUncertain, isInvalid } = error;
    if (isUncertain) this.#finalErrors.delete(key);
    else this.#finalErrors.add(key);
    const outcome = isUncertain ? 'is still in progress.' : 'failed. Waiting for retry.';
    const conditions = [
      { type: MODIFYING, message: `Modifying volume to "${target}" ${outcome}` },
      { type: FAILED, reason: code, message: description },
    ];
    await this.#save(claim, { state: isInvalid ? 'Infeasible' : 'InProgress', conditions });
    events.warning(claim, 'VolumeModifyFailed', messageOf(error) + (isUncertain ? `. Still modifying to VAC ${target}` : ''));
    if (isInvalid) return this.#infeasible.add(key, target);
    throw error;
  }

  /** The conditions are those of the current claim: an attempt writes several times. */
  async #save({ metadata }: Claim, { target, state, current, conditions, removed }: Progress): Promise<void> {
    const claims = this.deps.client.of(core.PersistentVolumeClaim);
    const claim = await claims.get(metadata);
    const targetVolumeAttributesClassName = target ?? claim.status?.modifyVolumeStatus?.targetVolumeAttributesClassName ?? '';
    const status = {
      conditions: mergeConditions(claim, { conditions, nowMs: this.deps.clock.now(), ...(removed && { removed }) }),
      ...(state !== undefined && { modifyVolumeStatus: state === null ? null : { targetVolumeAttributesClassName, status: state } }),
      ...(current !== undefined && { currentVolumeAttributesClassName: current }),
    };
    const { resourceVersion, uid } = claim.metadata;
    await claims.patch(metadata, { metadata: { resourceVersion, uid }, status }, { subresource: 'status' });
  }
}

interface Progress {
  /** Default: as before. */
  readonly target?: string;
  /** null: finished. */
  readonly state?: 'Pending' | 'InProgress' | 'Infeasible' | null;
  readonly current?: string;
  readonly conditions: readonly NewCondition[];
  readonly removed?: readonly string[];
}
