import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { core, storage } from '#api';
import { realClock } from '#base';
import type { Client } from '#client';
import { hostMounter } from '#kubelet';
import { isStatusReason } from '#machinery';

export const NODES = ['node-1', 'node-2'] as const;

/**
 * The kinds of volumes: directories and images of a CSI driver, which can be used on all nodes, and images of the default class, which
 * cannot.
 */
const CLASSES = [
  { name: 'directory', plugin: 'kubernetes.io~csi', mount: 'mount', secondNode: NODES[1] },
  { name: 'image', plugin: 'kubernetes.io~csi', mount: 'mount', secondNode: NODES[1] },
  { name: 'local', plugin: 'kubernetes.io~local-volume', mount: '', secondNode: NODES[0] },
] as const;

const STEP_MS = 50;

export interface StorageLivesOptions {
  readonly directory: string;
  readonly driverName: string;
  readonly count: number;
}

/**
 * Takes claims through their lives: a pod on one node writes, a pod on the other reads that and writes too, then everything is deleted.
 * Fsynced writes are recorded in the file `acknowledged`, from which a restarted process continues. Resolves when nothing is left.
 */
export async function runStorageLives(options: StorageLivesOptions, client: Client): Promise<void> {
  const lives = Array.from({ length: options.count }, (_, index) => new StorageLife(index, options.directory, client));
  await createClasses(options.driverName, client);
  for (let isOver = false; !isOver; ) {
    await realClock.sleep(STEP_MS);
    const objects = await listObjects(options.directory, client);
    const states = await Promise.all(lives.map((life) => life.step(objects)));
    isOver = states.every((over) => over) && (await isEmpty(client));
  }
}

/** The objects at one step. All lives share them: separate requests would cost more than the cluster under test. */
interface LifeObjects {
  readonly claims: ReadonlyMap<string, core.PersistentVolumeClaim>;
  readonly pods: ReadonlyMap<string, core.Pod>;
  /** Lines such as `3 a`: the first pod of life 3 has fsynced. */
  readonly acknowledged: ReadonlySet<string>;
}

async function listObjects(directory: string, client: Client): Promise<LifeObjects> {
  const [claims, pods] = await Promise.all([client.of(core.PersistentVolumeClaim).list(), client.of(core.Pod).list()]);
  const file = acknowledgedFile(directory);
  return {
    claims: new Map(claims.items.map((claim) => [claim.metadata.name ?? '', claim])),
    pods: new Map(pods.items.map((pod) => [pod.metadata.name ?? '', pod])),
    acknowledged: new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []),
  };
}

function acknowledgedFile(directory: string): string {
  return join(directory, 'acknowledged');
}

async function isEmpty(client: Client): Promise<boolean> {
  const kinds = [core.PersistentVolume, storage.VolumeAttachment, core.Pod] as const;
  const lists = await Promise.all(kinds.map((kind) => client.of(kind as typeof core.Pod).list()));
  return lists.every(({ items }) => items.length === 0);
}

async function createClasses(provisioner: string, client: Client): Promise<void> {
  const classes = [
    { metadata: { name: 'directory' }, provisioner },
    { metadata: { name: 'image' }, provisioner, parameters: { backing: 'loop' } },
    { metadata: { name: 'local' }, provisioner: 'sampan.dev/local', parameters: { backing: 'loop' } },
  ];
  for (const storageClass of classes) await client.of(storage.StorageClass).create(storageClass).catch(orExisting);
}

class StorageLife {
  readonly #class: (typeof CLASSES)[number];
  readonly #claim: { readonly name: string; readonly namespace: string };
  readonly #mounter = hostMounter();

  constructor(
    private readonly index: number,
    private readonly directory: string,
    private readonly client: Client,
  ) {
    this.#class = CLASSES[index % CLASSES.length] ?? CLASSES[0];
    this.#claim = { name: `claim-${index}`, namespace: 'default' };
  }

  /** Resolves to whether the life is over. */
  async step(objects: LifeObjects): Promise<boolean> {
    const { acknowledged, claims, pods } = objects;
    if (acknowledged.has(`${this.index} b`)) return this.#remove(objects);
    const claim = claims.get(this.#claim.name);
    if (claim === undefined) await this.#createClaim();
    const isSecond = acknowledged.has(`${this.index} a`);
    if (isSecond && pods.has(`a-${this.index}`)) await this.#deletePod(`a-${this.index}`);
    else await this.#usePod(isSecond, claim?.spec?.volumeName, objects);
    return false;
  }

  async #createClaim(): Promise<void> {
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: this.#class.name, resources: { requests: { storage: '2Mi' } } };
    await this.client.of(core.PersistentVolumeClaim).create({ metadata: this.#claim, spec }).catch(orExisting);
  }

  async #usePod(isSecond: boolean, volumeName: string | undefined, { pods }: LifeObjects): Promise<void> {
    const letter = isSecond ? 'b' : 'a';
    const pod = pods.get(`${letter}-${this.index}`);
    if (pod === undefined) return this.#createPod(`${letter}-${this.index}`, isSecond ? this.#class.secondNode : NODES[0]);
    const mount = volumeName === undefined ? undefined : await this.#mountOf(pod, volumeName);
    if (mount === undefined) return;
    if (isSecond) this.#checkFirst(mount, volumeName ?? '');
    writeDurably(join(mount, letter), `${this.index}`, 'w');
    writeDurably(acknowledgedFile(this.directory), `${this.index} ${letter}\n`, 'a');
  }

  #checkFirst(mount: string, volumeName: string): void {
    const text = existsSync(join(mount, 'a')) ? readFileSync(join(mount, 'a'), 'utf8') : undefined;
    if (text === `${this.index}`) return;
    appendFileSync(join(this.directory, 'violations'), `volume ${volumeName} lost what was acknowledged: ${text}\n`);
  }

  async #createPod(name: string, nodeName: string): Promise<void> {
    const containers = [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: this.#claim.name } }];
    const spec = { containers, volumes, nodeName, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false };
    const pod = { metadata: { name, namespace: 'default' }, spec };
    await this.client
      .of(core.Pod)
      .create(pod as never)
      .catch((error: unknown) => {
        // The controller manager may not have created the service account yet.
        if (!isStatusReason(error, 'Forbidden')) orExisting(error);
      });
  }

  async #deletePod(name: string): Promise<void> {
    await this.client.of(core.Pod).delete({ name, namespace: 'default' }).catch(orMissing);
  }

  /** The mount point of a running pod's volume. */
  async #mountOf(pod: core.Pod, volumeName: string): Promise<string | undefined> {
    if (pod.status?.phase !== 'Running' || pod.metadata.deletionTimestamp !== undefined) return undefined;
    const { plugin, mount } = this.#class;
    const path = join(this.directory, pod.spec?.nodeName ?? '', 'pods', pod.metadata.uid ?? '', 'volumes', plugin, volumeName, mount);
    return (await this.#mounter.isMountPoint(path)) ? path : undefined;
  }

  async #remove({ claims, pods }: LifeObjects): Promise<boolean> {
    for (const name of [`a-${this.index}`, `b-${this.index}`].filter((pod) => pods.has(pod))) await this.#deletePod(name);
    const claim = claims.get(this.#claim.name);
    if (claim !== undefined && claim.metadata.deletionTimestamp === undefined)
      await this.client.of(core.PersistentVolumeClaim).delete(this.#claim).catch(orMissing);
    return claim === undefined;
  }
}

/** A crash may come before the write is acknowledged: the write is then repeated. */
function writeDurably(path: string, text: string, flags: 'w' | 'a'): void {
  const file = openSync(path, flags);
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
}

function orMissing(error: unknown): undefined {
  if (!isStatusReason(error, 'NotFound')) throw error;
  return undefined;
}

function orExisting(error: unknown): void {
  if (!isStatusReason(error, 'AlreadyExists')) throw error;
}
