import { core, storage } from '#api';
import {
  type Clock,
  type Component,
  type Logger,
  type Random,
  type Requeue,
  repeat,
  runComponent,
  runWorkers,
  WorkQueue,
  waitForAbort,
} from '#base';
import { type Client, type EventRecorder, EventSink, InformerFactory, keyOf, type Lister, parseKey } from '#client';
import { isStatusReason, Quantity } from '#machinery';
import { messageOf } from '../volumes/volume-plugin.ts';
import type { LocalBackend, LocalVolumeRequest } from './local-backend.ts';
import { VolumeInUseError } from './loop-image.ts';
import {
  allowsNode,
  BACKING,
  backingOf,
  type ClaimAction,
  claimAction,
  DEFAULT_STORAGE_CLASS,
  expandedStatus,
  FINALIZER,
  HOSTNAME_LABEL,
  isProvisionedHere,
  isWaitingForNode,
  LOCAL_PROVISIONER,
  newVolume,
  nodeOf,
  parseBacking,
  volumeAction,
  volumeNameOf,
  waitingStatus,
} from './reconcile.ts';

export interface LocalProvisionerConfig {
  /** The backend of a node; undefined for nodes of other processes, which have their own provisioner. */
  backendOf(nodeName: string): LocalBackend | undefined;
  /** Candidates for claims with immediate binding. */
  nodeNames(): readonly string[];
  readonly concurrency?: number;
}

export interface LocalProvisionerDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const CLAIM = 'claim/';
const VOLUME = 'volume/';
const UNFINISHED = 'unfinished';
const DEFAULT_CONCURRENCY = 8;
/** The interval of the search for volumes left unfinished by a crash. */
const UNFINISHED_MS = 300_000;
/** Between attempts to grow a file system that pods use. */
const NODE_EXPANSION_MS = 10_000;
const REQUIRES_CLASS_INDEX = 'local-class';

/** Provisions, expands and deletes volumes of the class `standard`, and creates the class if there is none. */
export function startLocalProvisioner(config: LocalProvisionerConfig, deps: LocalProvisionerDeps, signal?: AbortSignal): Component {
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    const informers = new InformerFactory(deps.client, deps);
    const sink = new EventSink(deps, stopping);
    const provisioner = new LocalProvisioner(config, deps, informers, sink.recorder({ component: LOCAL_PROVISIONER }));
    informers.start(stopping);
    try {
      await ensureDefaultClass(deps.client);
      await informers.synced();
      ready();
      await provisioner.run(stopping);
      await waitForAbort(stopping);
    } finally {
      await informers.stop();
      await sink.flushed();
    }
  });
}

async function ensureDefaultClass(client: Client): Promise<void> {
  try {
    await client.of(storage.StorageClass).create(DEFAULT_STORAGE_CLASS);
  } catch (error) {
    if (!isStatusReason(error, 'AlreadyExists')) throw error;
  }
}

class LocalProvisioner {
  readonly #queue: WorkQueue<string>;
  readonly #claims: Lister<core.PersistentVolumeClaim>;
  readonly #volumes: Lister<core.PersistentVolume>;
  readonly #classes: Lister<storage.StorageClass>;
  readonly #nodes: Lister<core.Node>;
  /**
   * Claims without a node, by queue key: it is not in the cache yet, or the class allows none of this process's nodes. They are retried
   * when a node appears.
   */
  readonly #waitingForNode = new Set<string>();

  constructor(
    private readonly config: LocalProvisionerConfig,
    private readonly deps: LocalProvisionerDeps,
    informers: InformerFactory,
    private readonly events: EventRecorder,
  ) {
    this.#queue = new WorkQueue<string>({ clock: deps.clock });
    const claims = informers.of(core.PersistentVolumeClaim).addIndex(REQUIRES_CLASS_INDEX, ({ spec }) => [spec?.storageClassName ?? '']);
    const volumes = informers.of(core.PersistentVolume);
    const classes = informers.of(storage.StorageClass);
    this.#claims = claims.lister;
    this.#volumes = volumes.lister;
    this.#classes = classes.lister;
    const nodes = informers.of(core.Node);
    this.#nodes = nodes.lister;
    const nodesChanged = () => {
      for (const key of this.#waitingForNode) this.#queue.add(key);
    };
    nodes.addHandler({ add: nodesChanged, update: nodesChanged });
    const claimChanged = (claim: core.PersistentVolumeClaim) => this.#queue.add(CLAIM + keyOf(claim));
    const removeUnfinished = () => this.#queue.add(UNFINISHED);
    claims.addHandler({ add: claimChanged, update: (_, claim) => claimChanged(claim), delete: removeUnfinished });
    const volumeChanged = (volume: core.PersistentVolume) => {
      if (isProvisionedHere(volume)) this.#queue.add(VOLUME + keyOf(volume));
    };
    volumes.addHandler({ add: volumeChanged, update: (_, volume) => volumeChanged(volume) });
    const classChanged = ({ metadata }: storage.StorageClass) => {
      for (const claim of this.#claims.byIndex(REQUIRES_CLASS_INDEX, metadata.name)) claimChanged(claim);
    };
    classes.addHandler({ add: classChanged, update: (_, changed) => classChanged(changed) });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.deps;
    const onError = (key: string, error: unknown) => {
      if (!isStatusReason(error, 'Conflict') && !signal.aborted) logger.warn('will try again', { queue: 'local-volumes', key, error });
    };
    const { concurrency = DEFAULT_CONCURRENCY } = this.config;
    const removeUnfinished = async () => this.#queue.add(UNFINISHED);
    const working = runWorkers({ queue: this.#queue, concurrency, signal, onError }, (key) => this.#sync(key));
    await Promise.all([
      working,
      repeat({ clock, signal, intervalMs: UNFINISHED_MS, onError: (error) => onError(UNFINISHED, error) }, removeUnfinished),
    ]);
    this.#queue.shutDown();
  }

  async #sync(key: string): Promise<Requeue | undefined> {
    if (key.startsWith(CLAIM)) return this.#syncClaim(key.slice(CLAIM.length));
    if (key === UNFINISHED) await this.#removeUnfinished();
    else await this.#syncVolume(key.slice(VOLUME.length));
    return undefined;
  }

  async #syncClaim(key: string): Promise<Requeue | undefined> {
    const claim = this.#claims.get(parseKey(key));
    this.#waitingForNode.delete(CLAIM + key);
    if (claim === undefined) return undefined;
    const { volumeName, storageClassName } = claim.spec ?? {};
    const volume = volumeName ? this.#volumes.get({ name: volumeName }) : undefined;
    const storageClass = this.#classes.get({ name: storageClassName ?? '' });
    const action = claimAction(claim, volume, storageClass);
    if (action.type === 'fail') this.#provisioningFailed(claim, action.message);
    if (action.type === 'leave-to-populator')
      this.events.normal(claim, 'Provisioning', 'Assuming an external populator will provision the volume');
    if (action.type === 'provision' && storageClass !== undefined) await this.#provision(claim, action, storageClass);
    return action.type === 'expand' && volume !== undefined ? this.#expand(claim, volume, action.storage) : undefined;
  }

  #provisioningFailed(claim: core.PersistentVolumeClaim, message: string): void {
    const { storageClassName = '' } = claim.spec ?? {};
    this.events.warning(claim, 'ProvisioningFailed', `failed to provision volume with StorageClass "${storageClassName}": ${message}`);
  }

  async #provision(claim: core.PersistentVolumeClaim, action: ClaimAction & { type: 'provision' }, storageClass: storage.StorageClass) {
    const name = volumeNameOf(claim);
    const node = this.#nodeFor(claim, action, storageClass);
    if (node === undefined) this.#waitingForNode.add(CLAIM + keyOf(claim));
    const backend = node && this.config.backendOf(node.metadata.name);
    if (backend === undefined || node === undefined || this.#volumes.get({ name }) !== undefined) return;
    const { namespace, name: claimName } = claim.metadata;
    this.events.normal(claim, 'Provisioning', `External provisioner is provisioning volume for claim "${namespace}/${claimName}"`);
    const backing = backingOf(storageClass, claim);
    try {
      await backend.create({ name, backing, bytes: bytesOf(claim.spec?.resources?.requests?.storage) });
    } catch (error) {
      this.#provisioningFailed(claim, messageOf(error));
      throw error;
    }
    const hostname = node.metadata.labels?.[HOSTNAME_LABEL] ?? node.metadata.name;
    await this.#create(newVolume({ claim, storageClass, hostname, path: backend.path(name, backing) }));
    await backend.commit(name);
    this.events.normal(claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
  }

  #nodeFor(claim: core.PersistentVolumeClaim, action: ClaimAction & { type: 'provision' }, storageClass: storage.StorageClass) {
    const names = action.nodeName === undefined ? this.config.nodeNames() : [action.nodeName];
    const nodes = names.flatMap((name) => this.#nodes.get({ name }) ?? []);
    const node = nodes.find((candidate) => allowsNode(storageClass, candidate));
    if (node === undefined && nodes.length > 0 && nodes.length === names.length)
      this.#provisioningFailed(claim, 'no node is in the allowed topologies of the class');
    return node;
  }

  async #create(volume: core.PersistentVolume): Promise<void> {
    try {
      await this.deps.client.of(core.PersistentVolume).create(volume);
    } catch (error) {
      if (!isStatusReason(error, 'AlreadyExists')) throw error;
    }
  }

  async #expand(claim: core.PersistentVolumeClaim, volume: core.PersistentVolume, size: string): Promise<Requeue | undefined> {
    const { name } = volume.metadata;
    const backend = this.#backendOf(volume);
    if (backend === undefined) return undefined;
    if (!isWaitingForNode(claim, size)) this.events.normal(claim, 'Resizing', `External resizer is resizing volume ${name}`);
    try {
      await backend.expand({ ...requestFor(volume), bytes: bytesOf(size) });
    } catch (error) {
      if (error instanceof VolumeInUseError) return this.#waitForNode(claim, volume, size);
      this.events.warning(
        claim,
        'VolumeResizeFailed',
        `resize volume "${name}" by resizer "${LOCAL_PROVISIONER}" failed: ${messageOf(error)}`,
      );
      throw error;
    }
    await this.#saveCapacity(name, size);
    await this.#saveStatus(claim, expandedStatus(size));
    this.events.normal(claim, 'VolumeResizeSuccessful', 'Resize volume succeeded');
    return undefined;
  }

  /** The file has the new size; its file system grows before it is mounted for the next pod, or when no pod has used it for a while. */
  async #waitForNode(claim: core.PersistentVolumeClaim, { metadata }: core.PersistentVolume, size: string): Promise<Requeue> {
    if (!isWaitingForNode(claim, size)) {
      await this.#saveCapacity(metadata.name, size);
      await this.#saveStatus(claim, waitingStatus(size, this.deps.clock.now()));
      this.events.normal(claim, 'FileSystemResizeRequired', 'Require file system resize of volume on node');
    }
    return { afterMs: NODE_EXPANSION_MS };
  }

  async #saveCapacity(name: string, size: string): Promise<void> {
    await this.deps.client.of(core.PersistentVolume).patch({ name }, { spec: { capacity: { storage: size } } });
  }

  async #saveStatus({ metadata }: core.PersistentVolumeClaim, status: object): Promise<void> {
    await this.deps.client.of(core.PersistentVolumeClaim).patch(metadata, { status }, { subresource: 'status' });
  }

  /** By the hostname in the volume's node affinity; the node may be deleted together with its volumes. */
  #backendOf(volume: core.PersistentVolume): LocalBackend | undefined {
    const hostname = nodeOf(volume) ?? '';
    const direct = this.config.backendOf(hostname);
    if (direct !== undefined) return direct;
    const node = this.#nodes.list().find(({ metadata }) => metadata.labels?.[HOSTNAME_LABEL] === hostname);
    return node && this.config.backendOf(node.metadata.name);
  }

  async #syncVolume(name: string): Promise<void> {
    const volume = this.#volumes.get({ name });
    const backend = volume && this.#backendOf(volume);
    if (volume === undefined || backend === undefined) return;
    const action = volumeAction(volume);
    if (action === 'none') return needsMount(volume) ? backend.ensureMounted(requestFor(volume)) : undefined;
    const removesData = volume.spec?.persistentVolumeReclaimPolicy === 'Delete';
    await this.#release(volume, () => (removesData ? backend.remove(name) : backend.release(name)));
    const { client } = this.deps;
    if (action === 'delete')
      await client
        .of(core.PersistentVolume)
        .delete({ name }, { preconditions: preconditionsOf(volume) })
        .catch(ignoreNotFound);
    if (action === 'finalize') await this.#finalize(volume);
  }

  async #release(volume: core.PersistentVolume, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.events.warning(volume, 'VolumeFailedDelete', messageOf(error));
      throw error;
    }
  }

  async #finalize({ metadata }: core.PersistentVolume): Promise<void> {
    const finalizers = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
    const { name, resourceVersion } = metadata;
    await this.deps.client.of(core.PersistentVolume).patch({ name }, { metadata: { finalizers, resourceVersion } }).catch(ignoreNotFound);
  }

  /** A crash between the creation of a volume and of its object leaves data, which is removed once the claim is deleted too. */
  async #removeUnfinished(): Promise<void> {
    for (const backend of new Set(this.config.nodeNames().map((name) => this.config.backendOf(name)))) {
      for (const name of (await backend?.unfinished()) ?? []) {
        if (this.#volumes.get({ name }) !== undefined) await backend?.commit(name);
        else if (!this.#claims.list().some((claim) => volumeNameOf(claim) === name)) await backend?.remove(name);
      }
    }
  }
}

/** A deleted volume is mounted as long as its claim exists. */
function needsMount({ metadata, status }: core.PersistentVolume): boolean {
  return metadata.deletionTimestamp === undefined || status?.phase === 'Bound';
}

function requestFor(volume: core.PersistentVolume): LocalVolumeRequest {
  return {
    name: volume.metadata.name,
    backing: parseBacking(volume.metadata.annotations?.[BACKING]),
    bytes: bytesOf(volume.spec?.capacity?.storage),
  };
}

function preconditionsOf({ metadata }: core.PersistentVolume) {
  return metadata.uid === undefined ? {} : { uid: metadata.uid };
}

function bytesOf(text: string | undefined): number {
  return Quantity.parse(text ?? '0').value();
}

function ignoreNotFound(error: unknown): void {
  if (!isStatusReason(error, 'NotFound')) throw error;
}
