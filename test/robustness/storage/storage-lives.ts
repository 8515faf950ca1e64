import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { core, storage } from '#api';
import { realClock } from '#base';
import type { Client } from '#client';
import { hostMounter } from '#kubelet';
import { isStatusReason } from '#machinery';

export const NODES = ['node-1', 'node-2'] as const;

/** What volumes are made of: directories and images of a CSI driver, which move between nodes, and images of the default class, which do not. */
const CLASSES = [
  { name: 'directory', plugin: 'kubernetes.io~csi', mount: 'mount', secondNode: NODES[1] },
  { name: 'image', plugin: 'kubernetes.io~csi', mount: 'mount', secondNode: NODES[1] },
  { name: 'local', plugin: 'kubernetes.io~local-volume', mount: '', secondNode: NODES[0] },
] as const;

export interface StorageLivesOptions {
  readonly directory: string;
  readonly driverName: string;
  readonly count: number;
}

/**
 * Takes claims through their lives: a pod on one node writes, a pod on the other reads that and writes, all is deleted. What was fsynced is
 * kept in the file `acknowledged`; whoever comes later goes on from there. Resolves when nothing is left.
 */
export async function runStorageLives(options: StorageLivesOptions, client: Client): Promise<void> {
  const lives = Array.from({ length: options.count }, (_, index) => new StorageLife(index, options.directory, client));
  await createClasses(options.driverName, client);
  for (let isOver = false; !isOver; ) {
    await realClock.sleep(20);
    const states = await Promise.all(lives.map((life) => life.step()));
    const kinds = [core.PersistentVolume, storage.VolumeAttachment, core.Pod] as const;
    const lists = await Promise.all(kinds.map((kind) => client.of(kind as typeof core.Pod).list()));
    isOver = states.every((over) => over) && lists.every(({ items }) => items.length === 0);
  }
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

  /** Resolves to whether it is over. */
  async step(): Promise<boolean> {
    const done = this.#acknowledged();
    if (done.has(`${this.index} b`)) return this.#remove();
    const { name: storageClassName, secondNode } = this.#class;
    const claims = this.client.of(core.PersistentVolumeClaim);
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '2Mi' } } };
    await claims.create({ metadata: this.#claim, spec }).catch(orExisting);
    const volumeName = (await claims.get(this.#claim)).spec?.volumeName ?? '';
    const isSecond = done.has(`${this.index} a`);
    if (isSecond && !(await this.#isPodGone(`a-${this.index}`))) return false;
    const pod = await this.#ensurePod(`${isSecond ? 'b' : 'a'}-${this.index}`, isSecond ? secondNode : NODES[0]);
    const mount = pod && (await this.#mountOf(pod, volumeName));
    if (mount === undefined) return false;
    if (isSecond) this.#checkFirst(mount, volumeName);
    writeDurably(join(mount, isSecond ? 'b' : 'a'), `${this.index}`, 'w');
    writeDurably(this.#acknowledgedFile, `${this.index} ${isSecond ? 'b' : 'a'}\n`, 'a');
    return false;
  }

  get #acknowledgedFile(): string {
    return join(this.directory, 'acknowledged');
  }

  #acknowledged(): ReadonlySet<string> {
    const file = this.#acknowledgedFile;
    return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
  }

  #checkFirst(mount: string, volumeName: string): void {
    const text = existsSync(join(mount, 'a')) ? readFileSync(join(mount, 'a'), 'utf8') : undefined;
    if (text === `${this.index}`) return;
    appendFileSync(join(this.directory, 'violations'), `volume ${volumeName} lost what was acknowledged: ${text}\n`);
  }

  async #isPodGone(name: string): Promise<boolean> {
    const pods = this.client.of(core.Pod);
    await pods.delete({ name, namespace: 'default' }).catch(orMissing);
    return (await pods.get({ name, namespace: 'default' }).catch(orMissing)) === undefined;
  }

  async #ensurePod(name: string, nodeName: string): Promise<core.Pod | undefined> {
    const key = { name, namespace: 'default' };
    const pods = this.client.of(core.Pod);
    const existing = await pods.get(key).catch(orMissing);
    if (existing !== undefined) return existing;
    const containers = [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: this.#claim.name } }];
    const spec = { containers, volumes, nodeName, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false };
    await pods.create({ metadata: key, spec } as never).catch((error: unknown) => {
      // The controller manager may not have made the service account yet.
      if (!isStatusReason(error, 'Forbidden')) orExisting(error);
    });
    return undefined;
  }

  /** Where the volume of a pod that runs is mounted. */
  async #mountOf(pod: core.Pod, volumeName: string): Promise<string | undefined> {
    if (pod.status?.phase !== 'Running' || pod.metadata.deletionTimestamp !== undefined) return undefined;
    const { plugin, mount } = this.#class;
    const path = join(this.directory, pod.spec?.nodeName ?? '', 'pods', pod.metadata.uid ?? '', 'volumes', plugin, volumeName, mount);
    return (await this.#mounter.isMountPoint(path)) ? path : undefined;
  }

  async #remove(): Promise<boolean> {
    for (const name of [`a-${this.index}`, `b-${this.index}`])
      await this.client.of(core.Pod).delete({ name, namespace: 'default' }).catch(orMissing);
    const claims = this.client.of(core.PersistentVolumeClaim);
    await claims.delete(this.#claim).catch(orMissing);
    return (await claims.get(this.#claim).catch(orMissing)) === undefined;
  }
}

/** A crash may come before the write is acknowledged: it is then done again. */
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
