import { core, storage } from '#api';
import type { Requeue } from '#base';
import { keyOf, parseKey } from '#client';
import { messageOf } from '../../volumes/volume-plugin.ts';
import { CsiError } from '../csi-drivers.ts';
import { csiSecrets } from '../csi-secrets.ts';
import { ControllerModifyVolume } from '../messages.ts';
import { boundVolume } from './bound-volume.ts';
import { type NewCondition, replaceConditions } from './claim-conditions.ts';
import { type DriverController, type DriverControllerDeps, leaseName } from './driver-controller.ts';
import { InfeasibleRequests } from './infeasible-requests.ts';
import { modifySecret } from './provision-request.ts';

type Claim = core.PersistentVolumeClaim;

const MODIFYING = ['ModifyingVolume', 'ModifyVolumeError'];
const MISSING_CLASS_RETRY_MS = 30_000;

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
      const add = (claim: Claim) => targetClass(claim) !== undefined && enqueue(keyOf(claim));
      claims.addHandler({ add, update: (_, claim) => add(claim) });
      classes.addHandler({
        add: ({ metadata }) => {
          for (const claim of claims.lister.list()) if (targetClass(claim) === metadata.name) enqueue(keyOf(claim));
        },
      });
    },
    sync: (key) => modifier.sync(key),
  };
}

/** The desired class of a bound claim, if its volume has another one. */
export function targetClass({ spec, status }: Claim): string | undefined {
  const name = spec?.volumeAttributesClassName;
  if (status?.phase !== 'Bound' || !name) return undefined;
  return status.modifyVolumeStatus === undefined && status.currentVolumeAttributesClassName === name ? undefined : name;
}

class Modifier {
  readonly #infeasible: InfeasibleRequests;

  constructor(private readonly deps: DriverControllerDeps) {
    this.#infeasible = new InfeasibleRequests(deps.clock);
  }

  async sync(key: string): Promise<Requeue | undefined> {
    const { informers, events } = this.deps;
    const claim = informers.of(core.PersistentVolumeClaim).lister.get(parseKey(key));
    const name = claim && targetClass(claim);
    if (claim === undefined || name === undefined) return undefined;
    const volume = boundVolume(claim, this.deps);
    if (volume === undefined) return undefined;
    const target = informers.of(storage.VolumeAttributesClass).lister.get({ name });
    if (target === undefined) {
      events.warning(claim, 'VolumeModifyFailed', `VAC "${name}" does not exist.`);
      await this.#save(claim, { name, state: 'Pending', conditions: [] });
      return { afterMs: MISSING_CLASS_RETRY_MS };
    }
    const delay = this.#infeasible.delay(key, name);
    if (delay !== undefined) return delay;
    // Retries are not reported again: each write would trigger another sync.
    const { status: state, targetVolumeAttributesClassName } = claim.status?.modifyVolumeStatus ?? {};
    if (targetVolumeAttributesClassName !== name || state === 'Pending')
      await this.#save(claim, { name, state: 'InProgress', conditions: [{ type: 'ModifyingVolume' }] });
    events.normal(claim, 'VolumeModify', `external resizer is modifying volume ${claim.metadata.name} with vac ${name}`);
    try {
      await this.#modify(claim, volume, target);
      return undefined;
    } catch (error) {
      return this.#failed(claim, name, error);
    }
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
    await client.of(core.PersistentVolume).patch(volume.metadata, { spec: { volumeAttributesClassName: name } });
    const conditions = replaceConditions(claim, MODIFYING, { conditions: [], nowMs: this.deps.clock.now() });
    const status = { currentVolumeAttributesClassName: name, modifyVolumeStatus: null, conditions };
    await client.of(core.PersistentVolumeClaim).patch(claim.metadata, { status }, { subresource: 'status' });
    events.normal(claim, 'VolumeModifySuccessful', `external resizer modified volume ${claim.metadata.name} with vac ${name} successfully`);
  }

  async #failed(claim: Claim, name: string, error: unknown): Promise<Requeue> {
    const isFinal = error instanceof CsiError && error.isInvalid;
    const conditions = [{ type: 'ModifyingVolume' }, { type: 'ModifyVolumeError', message: messageOf(error) }];
    await this.#save(claim, { name, state: isFinal ? 'Infeasible' : 'InProgress', conditions });
    this.deps.events.warning(claim, 'VolumeModifyFailed', messageOf(error));
    if (!isFinal) throw error;
    return this.#infeasible.add(keyOf(claim), name);
  }

  async #save(claim: Claim, { name, state, conditions }: Progress): Promise<void> {
    const status = {
      modifyVolumeStatus: { targetVolumeAttributesClassName: name, status: state },
      conditions: replaceConditions(claim, MODIFYING, { conditions, nowMs: this.deps.clock.now() }),
    };
    await this.deps.client.of(core.PersistentVolumeClaim).patch(claim.metadata, { status }, { subresource: 'status' });
  }
}

interface Progress {
  readonly name: string;
  readonly state: 'Pending' | 'InProgress' | 'Infeasible';
  readonly conditions: readonly NewCondition[];
}
