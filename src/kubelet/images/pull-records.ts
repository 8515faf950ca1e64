import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AsyncMutex, type Clock, type Logger } from '#base';
import { formatTime } from '#machinery';
import type { AuthConfig, ContainerRuntime } from '../cri/runtime.ts';
import { parseImageName } from './parse-image-name.ts';
import { type PullVerification, requiresVerification } from './pull-verification.ts';

/** The secret that a credential comes from. */
export interface PullSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly credentialHash: string;
}

/** The service account that a credential provider gave a credential to. */
export interface PullAccount {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** A credential for a registry. */
export interface PullCredential {
  /** Undefined: anonymous. */
  readonly auth?: AuthConfig | undefined;
  /** Undefined: the node's own, which every pod may use. */
  readonly secret?: PullSecret | undefined;
  /** Undefined: it does not depend on one. */
  readonly serviceAccount?: PullAccount | undefined;
}

interface RepositoryCredentials {
  readonly kubernetesSecrets?: readonly PullSecret[];
  readonly kubernetesServiceAccounts?: readonly PullAccount[];
  readonly nodePodsAccessible?: boolean;
}

interface PulledRecord {
  readonly kind: 'ImagePulledRecord';
  readonly apiVersion: string;
  readonly lastUpdatedTime: string;
  readonly imageRef: string;
  readonly credentialMapping: Readonly<Record<string, RepositoryCredentials>>;
}

export interface PullRecordsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly runtime: Pick<ContainerRuntime, 'listImages' | 'imageStatus'>;
}

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
/** The limit of recorded secrets per image; others are verified each time. */
const MAX_SECRETS = 100;

/**
 * Records with which credentials images were pulled, so that a pod without them cannot use an image just because it is on the
 * node. The files are upstream's: `pulling/` for pulls in progress, `pulled/` for completed ones.
 */
export class PullRecords {
  /** Serializes read-modify-write of records. */
  readonly #lock = new AsyncMutex();

  constructor(
    private readonly directory: string,
    private readonly policy: PullVerification,
    private readonly deps: PullRecordsDeps,
  ) {}

  /** Recovers pulls that an earlier kubelet did not finish: the credentials of those images are unknown. */
  async open(): Promise<void> {
    for (const part of ['pulling', 'pulled']) await mkdir(join(this.directory, part), { recursive: true, mode: 0o700 });
    for (const name of await readdir(join(this.directory, 'pulling'))) {
      const intent = await this.#read<{ readonly image: string }>(join(this.directory, 'pulling', name));
      const image = intent && (await this.deps.runtime.imageStatus({ image: intent.image }));
      if (intent !== undefined && image !== undefined) await this.#add(intent.image, image.id, undefined);
      await rm(join(this.directory, 'pulling', name), { force: true });
    }
  }

  async begin(image: string): Promise<void> {
    await this.#write(this.#intentPath(image), { kind: 'ImagePullIntent', apiVersion: API_VERSION, image });
  }

  async failed(image: string): Promise<void> {
    await rm(this.#intentPath(image), { force: true });
  }

  /** Write errors are only logged: the image is present, and credentials are verified next time. */
  async succeeded(image: string, imageRef: string, credential: PullCredential): Promise<void> {
    try {
      await this.#add(image, imageRef, credential);
      await rm(this.#intentPath(image), { force: true });
    } catch (error) {
      this.deps.logger.error('storing an image pull record failed', { image, error });
    }
  }

  /** Whether a pod must pull a present image to prove its access. */
  async mustPull(image: string, imageRef: string, credentials: () => Promise<readonly PullCredential[]>): Promise<boolean> {
    const record = await this.#read<PulledRecord>(this.#recordPath(imageRef));
    const isFromKubelet = record !== undefined || (await this.#read(this.#intentPath(image))) !== undefined;
    if (!requiresVerification(this.policy, repositoryOf(image), isFromKubelet)) return false;
    const entry = new Map(Object.entries(record?.credentialMapping ?? {})).get(repositoryOf(image));
    if (entry === undefined) return true;
    if (entry.nodePodsAccessible === true) return false;
    const { kubernetesSecrets: saved = [], kubernetesServiceAccounts: accounts = [] } = entry;
    if (saved.length === 0 && accounts.length === 0) return true;
    for (const { secret, auth, serviceAccount } of await credentials()) {
      if (serviceAccount !== undefined && accounts.some((account) => isSameSource(account, serviceAccount))) return false;
      if (
        secret === undefined ||
        !saved.some((priorAccess) => isSameSource(priorAccess, secret) || priorAccess.credentialHash === secret.credentialHash)
      )
        continue;
      // A rotated secret, or a copy of it, is valid from now on too.
      await this.succeeded(image, imageRef, { auth, secret });
      return false;
    }
    return true;
  }

  /** Deletes the records of removed images. */
  async prune(present: ReadonlySet<string>): Promise<void> {
    const names = new Set(Array.from(present, fileName));
    for (const name of await readdir(join(this.directory, 'pulled'))) {
      if (!names.has(name)) await rm(join(this.directory, 'pulled', name), { force: true });
    }
  }

  /** Without a credential: the image was pulled, but with unknown credentials. */
  async #add(image: string, imageRef: string, credential: PullCredential | undefined): Promise<void> {
    using _turn = await this.#lock.acquire();
    const path = this.#recordPath(imageRef);
    const before = (await this.#read<PulledRecord>(path))?.credentialMapping ?? {};
    const repository = repositoryOf(image);
    const entry = credential && merged(before[repository], credential);
    const credentialMapping = entry === undefined ? before : { ...before, [repository]: entry };
    const lastUpdatedTime = formatTime(this.deps.clock.now());
    const record: PulledRecord = { kind: 'ImagePulledRecord', apiVersion: API_VERSION, lastUpdatedTime, imageRef, credentialMapping };
    await this.#write(path, record);
  }

  #intentPath(image: string): string {
    return join(this.directory, 'pulling', fileName(image));
  }

  #recordPath(imageRef: string): string {
    return join(this.directory, 'pulled', fileName(imageRef));
  }

  /** A corrupt file counts as absent: credentials are then verified. */
  async #read<T>(path: string): Promise<T | undefined> {
    // Images that were loaded have no record: asking is cheaper than an error for each of their containers.
    if (!existsSync(path)) return undefined;
    try {
      return JSON.parse(await readFile(path, 'utf8')) as T;
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isMissing) this.deps.logger.warn('a record of a pulled image cannot be read', { path, error });
      return undefined;
    }
  }

  async #write(path: string, value: object): Promise<void> {
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(value));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
  }
}

function fileName(key: string): string {
  return `sha256-${createHash('sha256').update(key).digest('hex')}`;
}

/** An image's full name without tag and digest. */
export function repositoryOf(image: string): string {
  const { domain, path } = parseImageName(image);
  return `${domain}/${path}`;
}

function isSameSource(a: PullAccount, b: PullAccount): boolean {
  return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
}

/** An image that all pods may use stays accessible to all. */
function merged(before: RepositoryCredentials | undefined, { secret, serviceAccount }: PullCredential): RepositoryCredentials {
  if (before?.nodePodsAccessible === true || (secret === undefined && serviceAccount === undefined)) return { nodePodsAccessible: true };
  return {
    ...before,
    ...(secret && { kubernetesSecrets: withSource(before?.kubernetesSecrets, secret) }),
    ...(serviceAccount && { kubernetesServiceAccounts: withSource(before?.kubernetesServiceAccounts, serviceAccount) }),
  };
}

function withSource<T extends PullAccount>(before: readonly T[] = [], source: T): readonly T[] {
  return [...before.filter((existing) => !isSameSource(existing, source)), source].slice(-MAX_SECRETS);
}
