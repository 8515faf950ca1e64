import { type CsiControllerBench, DRIVER } from './csi-controller-bench.ts';

const GROUP = { group: 'snapshot.storage.k8s.io', version: 'v1' };
const API = 'snapshot.storage.k8s.io/v1';
const SNAPSHOTS = { ...GROUP, resource: 'volumesnapshots', namespaced: true };
const CONTENTS = { ...GROUP, resource: 'volumesnapshotcontents', namespaced: false };
const CLASSES = { ...GROUP, resource: 'volumesnapshotclasses', namespaced: false };
export const SNAPSHOT_NAME = { name: 's', namespace: 'default' };
export const CLASS_NAME = 'snap';

interface Shown<Spec, Status> {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: Spec;
  readonly status?: Status;
}

interface ShownStatus {
  readonly boundVolumeSnapshotContentName?: string;
  readonly snapshotHandle?: string;
  readonly readyToUse?: boolean;
  readonly restoreSize?: string | number;
  readonly error?: { readonly message?: string };
}
type ShownSnapshot = Shown<{ readonly volumeSnapshotClassName?: string }, ShownStatus>;
type ShownContent = Shown<{ readonly driver: string; readonly volumeSnapshotRef: { readonly uid?: string } }, ShownStatus>;

/** Creates and reads VolumeSnapshots: `s` of the claim `c`, of the default class `snap`. */
export class SnapshotBench {
  constructor(private readonly bench: CsiControllerBench) {}

  async makeClass(deletionPolicy: string, parameters: Readonly<Record<string, string>> = {}): Promise<void> {
    const annotations = { 'snapshot.storage.kubernetes.io/is-default-class': 'true' };
    await this.#client(CLASSES).create({
      ...{ apiVersion: API, kind: 'VolumeSnapshotClass', driver: DRIVER, deletionPolicy, parameters },
      metadata: { name: CLASS_NAME, annotations },
    } as never);
  }

  async make(source: object = { persistentVolumeClaimName: 'c' }, spec: object = {}): Promise<void> {
    const draft = { apiVersion: API, kind: 'VolumeSnapshot', metadata: SNAPSHOT_NAME, spec: { source, ...spec } };
    await this.#client(SNAPSHOTS).create(draft as never);
  }

  async makeReady(): Promise<void> {
    await this.make();
    await this.bench.until(async () => (await this.get()).status?.readyToUse === true);
  }

  async makeContent(name: string, spec: object): Promise<void> {
    const volumeSnapshotRef = { kind: 'VolumeSnapshot', ...SNAPSHOT_NAME };
    await this.#client(CONTENTS).create({
      ...{ apiVersion: API, kind: 'VolumeSnapshotContent', metadata: { name } },
      spec: { driver: DRIVER, deletionPolicy: 'Delete', volumeSnapshotRef, ...spec },
    } as never);
  }

  async get(): Promise<ShownSnapshot> {
    return (await this.#client(SNAPSHOTS).get(SNAPSHOT_NAME)) as unknown as ShownSnapshot;
  }

  async contents(): Promise<readonly ShownContent[]> {
    return (await this.#client(CONTENTS).list()).items as unknown as readonly ShownContent[];
  }

  async delete(): Promise<void> {
    await this.#client(SNAPSHOTS).delete(SNAPSHOT_NAME);
  }

  async deleteContent(name: string): Promise<void> {
    await this.#client(CONTENTS).delete({ name });
  }

  #client(resource: typeof SNAPSHOTS) {
    return this.bench.plane.client.resource(resource);
  }
}
