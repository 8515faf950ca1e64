import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GrpcError, grpcStatus } from '#base';

/** A directory, or a file that is used through a loop device. */
export type Backing = 'directory' | 'image';

export interface StoredVolume {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  /** The nodes that it is attached to. */
  readonly nodes: readonly string[];
  /** May be attached to one node only. */
  readonly exclusive: boolean;
  /** Absent: a directory. */
  readonly backing?: Backing;
  /** The only topology that it is accessible from; absent: accessible from everywhere. */
  readonly place?: Readonly<Record<string, string>>;
  /** Its source: `snapshot/ID` or `volume/ID`. */
  readonly source?: string;
  readonly mutableParameters?: Readonly<Record<string, string>>;
}

export interface StoredSnapshot {
  readonly id: string;
  readonly name: string;
  readonly volumeId: string;
  readonly bytes: number;
  readonly backing: Backing;
  readonly createdMs: number;
}

/** The volumes and snapshots of a driver, on disk: they survive its process. */
export class DriverState {
  readonly #volumes = new Map<string, StoredVolume>();
  readonly #snapshots = new Map<string, StoredSnapshot>();

  private constructor(readonly root: string) {}

  static async open(root: string): Promise<DriverState> {
    for (const directory of ['volumes', 'snapshots']) await mkdir(join(root, directory), { recursive: true });
    const state = new DriverState(root);
    const text = await readFile(join(root, 'state.json'), 'utf8').catch(() => '{"volumes":[],"snapshots":[]}');
    const { volumes, snapshots } = JSON.parse(text) as { volumes: StoredVolume[]; snapshots: StoredSnapshot[] };
    for (const volume of volumes) state.#volumes.set(volume.id, volume);
    for (const snapshot of snapshots) state.#snapshots.set(snapshot.id, snapshot);
    return state;
  }

  get all(): readonly StoredVolume[] {
    return [...this.#volumes.values()];
  }

  get snapshots(): readonly StoredSnapshot[] {
    return [...this.#snapshots.values()];
  }

  directory(id: string): string {
    return join(this.root, 'volumes', id);
  }

  /** The location of a volume's data: its directory, or its image. */
  content({ id, backing = 'directory' }: Pick<StoredVolume, 'id' | 'backing'>): string {
    return backing === 'image' ? `${this.directory(id)}.img` : this.directory(id);
  }

  snapshotContent(id: string): string {
    return join(this.root, 'snapshots', id);
  }

  get(id: string): StoredVolume {
    const volume = this.#volumes.get(id);
    if (volume === undefined) throw new GrpcError(grpcStatus.notFound, `volume ${id} does not exist`);
    return volume;
  }

  has(id: string): boolean {
    return this.#volumes.has(id);
  }

  snapshot(id: string): StoredSnapshot | undefined {
    return this.#snapshots.get(id);
  }

  async put(volume: StoredVolume): Promise<void> {
    this.#volumes.set(volume.id, volume);
    await this.#write();
  }

  async remove(id: string): Promise<void> {
    this.#volumes.delete(id);
    await this.#write();
  }

  async putSnapshot(snapshot: StoredSnapshot): Promise<void> {
    this.#snapshots.set(snapshot.id, snapshot);
    await this.#write();
  }

  async removeSnapshot(id: string): Promise<void> {
    this.#snapshots.delete(id);
    await this.#write();
  }

  async #write(): Promise<void> {
    const path = join(this.root, 'state.json');
    await writeFile(`${path}.new`, JSON.stringify({ volumes: this.all, snapshots: this.snapshots }));
    await rename(`${path}.new`, path);
  }
}
