import { core } from '#api';
import { parseKey } from '#client';
import type { DriverControllerDeps } from './driver-controller.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';
import { SNAPSHOT, SNAPSHOT_CLASS, type VolumeSnapshot, type VolumeSnapshotClass } from './snapshot-kinds.ts';

type Claim = core.PersistentVolumeClaim;

/** On a claim while snapshots of its volume are not ready. */
const CLAIM_SOURCE = 'snapshot.storage.kubernetes.io/pvc-as-source-protection';
const DEFAULT_CLASS = 'snapshot.storage.kubernetes.io/is-default-class';

/** Why a snapshot cannot be taken yet: the reason of its event, and what its status says. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';

  constructor(
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** The claims, volumes and classes that snapshots are made from. */
export class SnapshotSources {
  constructor(private readonly deps: DriverControllerDeps) {
    this.deps.informers.resource(SNAPSHOT_CLASS);
    this.deps.informers.of(core.PersistentVolumeClaim);
    this.deps.informers.of(core.PersistentVolume);
  }

  /** The volume to take a snapshot of. Throws in upstream's words. */
  volumeOf({ metadata, spec }: VolumeSnapshot): core.PersistentVolume {
    const { informers } = this.deps;
    const name = spec.source.persistentVolumeClaimName ?? '';
    const claim = informers.of(core.PersistentVolumeClaim).lister.get({ name, namespace: metadata.namespace });
    if (claim === undefined)
      throw new Error(`failed to retrieve PVC ${name} from the lister: ${quoted(`persistentvolumeclaim "${name}" not found`)}`);
    if (claim.status?.phase !== 'Bound') throw new Error(`the PVC ${name} is not yet bound to a PV, will not attempt to take a snapshot`);
    const volumeName = claim.spec?.volumeName ?? '';
    const volume = informers.of(core.PersistentVolume).lister.get({ name: volumeName });
    if (volume === undefined)
      throw new Error(`failed to retrieve PV ${volumeName} from the API server: ${quoted(`persistentvolumes "${volumeName}" not found`)}`);
    if (volume.spec?.claimRef?.uid !== claim.metadata.uid) throw new Error('claim in dataSource not bound or invalid');
    return volume;
  }

  /** undefined: it is not known yet. */
  driverOf(snapshot: VolumeSnapshot): string | undefined {
    const { volumeSnapshotClassName: name } = snapshot.spec;
    const named = name === undefined ? undefined : this.#classes.find(({ metadata }) => metadata.name === name);
    if (named !== undefined || snapshot.spec.source.persistentVolumeClaimName === undefined) return named?.driver;
    try {
      return this.volumeOf(snapshot).spec?.csi?.driver;
    } catch {
      return undefined;
    }
  }

  /** The named class, or the default one of the volume's driver. */
  classOf(snapshot: VolumeSnapshot): VolumeSnapshotClass {
    const { volumeSnapshotClassName: name } = snapshot.spec;
    if (name === undefined) return this.#defaultClass(snapshot);
    const named = this.#classes.find(({ metadata }) => metadata.name === name);
    if (named !== undefined) return named;
    const cause = `volumesnapshotclass.snapshot.storage.k8s.io "${name}" not found`;
    throw new SnapshotError('GetSnapshotClassFailed', `Failed to get snapshot class with error ${cause}`);
  }

  #defaultClass(snapshot: VolumeSnapshot): VolumeSnapshotClass {
    const { name, namespace } = snapshot.metadata;
    try {
      const driver = this.volumeOf(snapshot).spec?.csi?.driver;
      if (driver === undefined) throw new Error(`snapshotting non-CSI volumes is not supported, snapshot:${namespace}/${name}`);
      const defaults = this.#classes.filter((entry) => entry.driver === driver && entry.metadata.annotations?.[DEFAULT_CLASS] === 'true');
      const [only] = defaults;
      if (only === undefined) throw new Error('cannot find default snapshot class');
      if (defaults.length > 1) throw new Error(`${defaults.length} default snapshot classes were found`);
      return only;
    } catch (error) {
      const { message } = error as Error;
      throw new SnapshotError('SetDefaultSnapshotClassFailed', `Failed to set default snapshot class with error ${message}`);
    }
  }

  get #classes(): readonly VolumeSnapshotClass[] {
    return this.deps.informers.resource(SNAPSHOT_CLASS).lister.list() as readonly VolumeSnapshotClass[];
  }

  /** The claim stays until the snapshot is ready. */
  async protect(snapshot: VolumeSnapshot): Promise<void> {
    const claim = this.#claimOf(snapshot);
    const subject = 'snapshot controller failed to update';
    if (claim === undefined) throw new Error(`${subject} ${snapshot.metadata.name} on API server: cannot get claim from snapshot`);
    if (isProtected(claim)) return;
    if (claim.metadata.deletionTimestamp !== undefined)
      throw new Error(`${subject} ${claim.metadata.name} on API server: cannot add finalizer on claim because it is being deleted`);
    await addFinalizer(this.deps.client.of(core.PersistentVolumeClaim), claim.metadata, CLAIM_SOURCE);
  }

  /** Lets the claim go unless a snapshot of it is not ready; one that is being deleted does not count. */
  async release(snapshot: VolumeSnapshot): Promise<void> {
    const claim = this.#claimOf(snapshot);
    if (claim === undefined || !isProtected(claim)) return;
    const all = this.deps.informers.resource(SNAPSHOT).lister.list() as readonly VolumeSnapshot[];
    const isNeeded = all.some(({ metadata, spec, status }) => {
      const isOther = metadata.uid !== snapshot.metadata.uid || snapshot.metadata.deletionTimestamp === undefined;
      const isOfClaim = metadata.namespace === claim.metadata.namespace && spec.source.persistentVolumeClaimName === claim.metadata.name;
      return isOther && isOfClaim && status?.readyToUse !== true;
    });
    if (!isNeeded) await removeFinalizer(this.deps.client.of(core.PersistentVolumeClaim), claim.metadata, CLAIM_SOURCE);
  }

  #claimOf({ metadata, spec }: VolumeSnapshot): Claim | undefined {
    const key = parseKey(`${metadata.namespace}/${spec.source.persistentVolumeClaimName ?? ''}`);
    return this.deps.informers.of(core.PersistentVolumeClaim).lister.get(key);
  }
}

function isProtected({ metadata }: Claim): boolean {
  return metadata.finalizers?.includes(CLAIM_SOURCE) === true;
}

/** As Go's %q prints errors within errors. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}
