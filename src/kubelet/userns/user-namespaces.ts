import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { core } from '#api';
import type { ContainerRuntime, IdMapping, UserNamespace } from '../cri/runtime.ts';
import type { IdRange } from './subordinate-ids.ts';

export interface UserNamespacesConfig {
  /** The kubelet's directory; pods have theirs in `pods/UID`. */
  readonly rootDir: string;
  /** As `userNamespaces.idsPerPod`. Default 65536. */
  readonly idsPerPod?: number | undefined;
  /** The ids to give out. Default: all but the first `idsPerPod`, which are the machine's own. */
  readonly ids?: IdRange | undefined;
  /** How many pods must find room in `ids`. Default 0. */
  readonly maxPods?: number;
}

const ID_UNIT = 65_536;
const ALL_IDS = 2 ** 32;
/** Upstream's name and format, so that either kubelet can take over from the other. */
const FILE = 'userns';

interface SavedMappings {
  readonly uidMappings: readonly IdMapping[];
  readonly gidMappings: readonly IdMapping[];
}

/** Allocates a unique range of host user ids to each pod with `hostUsers: false`, recorded in the pod's directory. */
export class UserNamespaces {
  readonly #idsPerPod: number;
  /** The numbers of the first range to give out, and of the first after them. */
  readonly #first: number;
  readonly #end: number;
  /** Range numbers by pod uid. */
  readonly #ranges = new Map<string, number>();

  constructor(
    private readonly config: UserNamespacesConfig,
    private readonly runtime: Pick<ContainerRuntime, 'status'>,
  ) {
    const { idsPerPod = ID_UNIT, maxPods = 0 } = config;
    const { firstId, length } = config.ids ?? { firstId: idsPerPod, length: ALL_IDS - idsPerPod };
    const problem = rangeProblem({ firstId, length, idsPerPod, maxPods });
    if (problem !== undefined) throw new TypeError(problem);
    this.#idsPerPod = idsPerPod;
    this.#first = firstId / idsPerPod;
    this.#end = (firstId + length) / idsPerPod;
  }

  /** Restores the allocations of an earlier kubelet. */
  async open(): Promise<void> {
    const directory = join(this.config.rootDir, 'pods');
    for (const uid of await readdir(directory).catch(() => [])) {
      const saved = await this.#read(uid);
      if (saved !== undefined) this.#record(uid, saved);
    }
  }

  /** The user namespace of a pod with `hostUsers: false`; undefined for others. Rejects when the runtime does not support it. */
  async allocate({ metadata, spec }: core.Pod, runtimeHandler: string): Promise<UserNamespace | undefined> {
    if (spec?.hostUsers !== false) return undefined;
    await this.#checkRuntime(runtimeHandler);
    const { uid = '' } = metadata;
    const existing = this.of(uid);
    if (existing !== undefined) return existing;
    const range = this.#freeRange();
    this.#ranges.set(uid, range);
    try {
      await this.#write(uid, this.#mappingsOf(range));
    } catch (error) {
      this.#ranges.delete(uid);
      throw new Error(`create user namespace: ${(error as Error).message}`, { cause: error });
    }
    return this.of(uid);
  }

  /** The existing allocation. */
  of(uid: string): UserNamespace | undefined {
    const range = this.#ranges.get(uid);
    if (range === undefined) return undefined;
    const mappings = this.#mappingsOf(range);
    return { mode: 'pod', uids: mappings, gids: mappings };
  }

  release(uid: string): void {
    this.#ranges.delete(uid);
  }

  releaseOrphans(liveUids: ReadonlySet<string>): void {
    for (const uid of this.#ranges.keys()) if (!liveUids.has(uid)) this.#ranges.delete(uid);
  }

  async #checkRuntime(handler: string): Promise<void> {
    const { handlers } = await this.runtime.status();
    const own = handlers.find(({ name }) => name === handler);
    if (own?.userNamespaces === true) return;
    const handlerName = handler === '' ? 'runtime' : `RuntimeClass handler "${handler}"`;
    // Runtimes without handlers predate this field.
    const unknown = handlers.length > 0 && own === undefined ? `: the handler "${handler}" is not known` : '';
    throw new Error(`can't set \`spec.hostUsers: false\`, ${handlerName} does not support user namespaces${unknown}`);
  }

  #freeRange(): number {
    const usedRanges = new Set(this.#ranges.values());
    for (let range = this.#first; range < this.#end; range++) if (!usedRanges.has(range)) return range;
    throw new Error('could not find an empty slot to allocate a user namespace');
  }

  #mappingsOf(range: number): readonly IdMapping[] {
    return [{ hostId: range * this.#idsPerPod, containerId: 0, length: this.#idsPerPod }];
  }

  #record(uid: string, { uidMappings, gidMappings }: SavedMappings): void {
    const [first] = uidMappings;
    const invalid = (text: string) => new Error(`record pod mappings for existing pod "${uid}": ${text}`);
    if (first === undefined || uidMappings.length !== 1 || JSON.stringify(uidMappings) !== JSON.stringify(gidMappings))
      throw invalid('invalid user namespace configuration: GID and UID mappings should be identical.');
    const { hostId, containerId, length } = first;
    if (containerId !== 0) throw invalid('invalid user namespace configuration: UID 0 must be mapped');
    if (length !== this.#idsPerPod) throw invalid(`wrong user namespace length ${length}`);
    if (hostId % length !== 0) throw invalid(`wrong user namespace offset specified ${hostId}`);
    const range = hostId / length;
    if (range < this.#first || range >= this.#end) throw invalid(`id ${hostId} is out of range`);
    if ([...this.#ranges.values()].includes(range)) throw invalid(`range picked for pod "${uid}" already taken`);
    this.#ranges.set(uid, range);
  }

  #path(uid: string): string {
    return join(this.config.rootDir, 'pods', uid, FILE);
  }

  async #read(uid: string): Promise<SavedMappings | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(uid), 'utf8')) as SavedMappings;
    } catch (error) {
      if (error instanceof SyntaxError)
        throw new Error(`record pod mappings for existing pod "${uid}": invalid user namespace mappings file: ${error.message}`);
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  /** Written before the runtime is called: ids must not be allocated twice after a crash. */
  async #write(uid: string, mappings: readonly IdMapping[]): Promise<void> {
    const path = this.#path(uid);
    await mkdir(dirname(path), { recursive: true, mode: 0o750 });
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify({ uidMappings: mappings, gidMappings: mappings } satisfies SavedMappings));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
  }
}

/** Why the ids cannot be divided into ranges for pods, in upstream's words. */
function rangeProblem({ firstId, length, idsPerPod, maxPods }: IdRange & { readonly idsPerPod: number; readonly maxPods: number }) {
  if (idsPerPod % ID_UNIT !== 0) return `kubelet user namespace length ${idsPerPod} is not a multiple of ${ID_UNIT}`;
  if (firstId % idsPerPod !== 0) return `kubelet user assigned ID ${firstId} is not a multiple of ${idsPerPod}`;
  // Pods are never mapped to the machine's root user.
  if (firstId < idsPerPod) return `kubelet user assigned ID ${firstId} must be greater or equal to ${idsPerPod}`;
  if (length % idsPerPod !== 0) return `kubelet user assigned IDs length ${length} is not a multiple of ${idsPerPod}`;
  if (length / idsPerPod < maxPods) return `kubelet user assigned IDs are not enough to support ${maxPods} pods`;
  return undefined;
}
