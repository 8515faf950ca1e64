import { dirname } from 'node:path';
import { core } from '#api';
import { AsyncMutex, Backoff, type Clock, isAbort, type Logger, minOf, type Random, type TimerHandle, timeoutSignal } from '#base';
import type { Client, EventRecorder } from '#client';
import { isStatusReason } from '#machinery';
import type { ImageMounts } from '../containerd/image-mounts.ts';
import type { CsiDrivers } from '../csi/csi-drivers.ts';
import { NotAttachedError } from '../csi/csi-volume.ts';
import { isBlockVolume } from '../csi/volume-capability.ts';
import type { VolumeLimits } from '../csi/volume-limits.ts';
import type { KubeletMetrics, StorageOperation } from '../metrics/kubelet-metrics.ts';
import { containerVolumes } from './container-volumes.ts';
import { ExclusiveVolumes } from './exclusive-volumes.ts';
import type { Mounter } from './mount/mounter.ts';
import { MountAttempt } from './mount-attempt.ts';
import { PodTokens } from './payload/pod-tokens.ts';
import { PodCertificates } from './pod-certificates.ts';
import { cleanUpPod, namesIn, tearDownUntilDone } from './pod-clean-up.ts';
import type { PodDirectories } from './pod-directories.ts';
import { PodRecord, type VolumeEntry, volumeCounts } from './pod-record.ts';
import type { ContainerVolumes, ContainerVolumesRequest, PodVolumes, VolumeCount, VolumeUsage } from './pod-volumes.ts';
import { ReferencedObjects, volumeReferences } from './referenced-objects.ts';
import { SeLinux } from './se-linux.ts';
import { TrustBundles, usesTrustBundles } from './trust-bundles.ts';
import { canGrow, expandIfPending } from './volume-expansion.ts';
import { VolumeError, type VolumePlugin, type VolumeSpec } from './volume-plugin.ts';
import { volumePlugins } from './volume-plugins.ts';
import { mountedVolumes, resolveVolume } from './volume-specs.ts';
import { directoryUsage, type FileSystemUsage } from './volume-usage.ts';

export interface NodeVolumesDeps {
  /** With the node's identity. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly mounter: Mounter;
  readonly directories: PodDirectories;
  readonly drivers: CsiDrivers;
  readonly nodeName: string;
  /** Absent: the limits of drivers are read when they register. */
  readonly limits?: Pick<VolumeLimits, 'refresh'> | undefined;
  /** Absent: the runtime mounts images itself. */
  readonly imageMounts?: ImageMounts | undefined;
  /** Absent: nothing is counted. */
  readonly kubeletMetrics?: Pick<KubeletMetrics, 'beginStorageOperation'> | undefined;
  /** Default: this machine's. */
  readonly seLinux?: SeLinux;
  /** The node's allocatable resources. */
  allocatable(): Readonly<Record<string, string>> | undefined;
}

/** Upstream's limits: the timeout of a preparation, and the retry interval. */
const PREPARE_TIMEOUT_MS = 123_000;
const RETRY = { initialMs: 500, maxMs: 122_000 };
const REFRESH_RETRY_MS = 30_000;
/** Nodes may not watch claims: claims of expandable volumes are polled. */
const EXPANSION_CHECK_MS = 10_000;
const ORPHAN_RETRY_MS = 5_000;

// One file: mounting, refreshing and unmounting share the records of pods; each kind of work is in files of its own (pod-clean-up.ts, container-volumes.ts).
/** The volumes of pods on this machine. */
export class NodeVolumes implements PodVolumes {
  readonly #deps: NodeVolumesDeps;
  readonly #records = new Map<string, PodRecord>();
  readonly #objects: ReferencedObjects;
  readonly #tokens: PodTokens;
  readonly #trustBundles: TrustBundles;
  readonly #certificates: PodCertificates;
  readonly #plugins: readonly VolumePlugin[];
  readonly #exclusive: ExclusiveVolumes;
  readonly #closing = new AbortController();
  readonly #reportLock = new AsyncMutex();
  /** Undefined: not reported yet; the node's status may predate a restart. */
  #reportedInUse: string | undefined;
  #expansionTimer: TimerHandle | undefined;
  #orphanTimer: TimerHandle | undefined;

  constructor(deps: NodeVolumesDeps) {
    this.#deps = deps;
    this.#objects = new ReferencedObjects(deps, (uids) => this.#sourcesChanged(uids));
    this.#tokens = new PodTokens(deps);
    this.#exclusive = new ExclusiveVolumes(deps.directories);
    const { seLinux = new SeLinux() } = deps;
    this.#trustBundles = new TrustBundles(deps, (uids) => this.#sourcesChanged(uids));
    this.#certificates = new PodCertificates(deps, (uids) => this.#sourcesChanged(uids));
    const certificates = this.#certificates;
    const sources = { objects: this.#objects, tokens: this.#tokens, trustBundles: this.#trustBundles, certificates };
    this.#plugins = volumePlugins({ ...deps, ...sources, seLinux });
  }

  get inUse(): readonly string[] {
    const names = new Set<string>();
    for (const { entries } of this.#records.values()) {
      for (const { attachedName } of entries.values()) if (attachedName !== undefined) names.add(attachedName);
    }
    return [...names].sort();
  }

  async prepare(pod: core.Pod, signal: AbortSignal): Promise<void> {
    const record = this.#recordOf(pod);
    const volumes = mountedVolumes(pod);
    if (volumes.every(({ name }) => record.prepared(name) !== undefined)) return;
    this.#objects.follow(record.uid, volumeReferences(pod));
    this.#trustBundles.follow(record.uid, usesTrustBundles(pod));
    const { clock } = this.#deps;
    using deadline = timeoutSignal(clock, PREPARE_TIMEOUT_MS, signal);
    const report = (error: Error) => this.#reportFailure(record, error);
    using attempt = new MountAttempt({ record, volumes, signal: deadline.signal, clock, report });
    try {
      await Promise.all(volumes.map((volume) => this.#mountUntil(record, volume, attempt)));
    } catch (error) {
      if (signal.aborted || record.isClosed) throw error;
      throw (await this.#exceedsLimit(record, attempt)) ? attempt.limitError() : attempt.missingError();
    }
    this.#scheduleRefresh(record);
  }

  update(pod: core.Pod): void {
    const record = this.#records.get(pod.metadata.uid ?? '');
    if (record === undefined) void this.#adopt(pod);
    else if (record.observe(pod)) void this.#refresh(record);
  }

  /** Containers that already run need no preparation, but their volumes must follow their sources. Never rejects. */
  async #adopt(pod: core.Pod): Promise<void> {
    const { deletionTimestamp, uid = '' } = pod.metadata;
    const phase = pod.status?.phase;
    if (deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed') return;
    try {
      if ((await namesIn(this.#deps.directories.volumes(uid))).length > 0) await this.prepare(pod, this.#closing.signal);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#deps.logger.warn('volumes of a running pod could not be adopted', { pod: uid, error });
    }
  }

  volumesFor(request: ContainerVolumesRequest): Promise<ContainerVolumes> {
    const record = this.#records.get(request.pod.metadata.uid ?? '');
    return containerVolumes(request, { ...this.#deps, volume: (name) => record?.prepared(name) });
  }

  async tearDown(podUid: string): Promise<void> {
    await this.#close(podUid);
    await tearDownUntilDone(podUid, this.#cleanUpDeps());
    await this.#released(podUid);
  }

  async cleanUp(podUid: string): Promise<void> {
    await this.#close(podUid);
    await cleanUpPod(podUid, this.#cleanUpDeps());
    await this.#released(podUid);
  }

  #released(podUid: string): Promise<void> {
    this.#records.delete(podUid);
    this.#exclusive.release(podUid);
    return this.#reportInUse();
  }

  /** volumesInUse is reported before a volume is mounted, and until it is unstaged: the attach/detach controller relies on it. */
  async #reportInUse(): Promise<void> {
    await this.#reportLock.run(async () => {
      const staged = await Promise.all(this.#plugins.map((plugin) => plugin.stagedNames?.() ?? []));
      const volumesInUse = [...new Set([...this.inUse, ...staged.flat()])].sort();
      const { client, nodeName } = this.#deps;
      this.#reportedInUse ??= await this.#inUseBefore();
      if (volumesInUse.join() === this.#reportedInUse) return;
      await client.of(core.Node).patch({ name: nodeName }, { status: { volumesInUse } }, { subresource: 'status' });
      this.#reportedInUse = volumesInUse.join();
    });
  }

  async #inUseBefore(): Promise<string> {
    const { client, nodeName } = this.#deps;
    const node = await client
      .of(core.Node)
      .get({ name: nodeName })
      .catch((error: unknown) => {
        if (!isStatusReason(error, 'NotFound')) throw error;
        return undefined;
      });
    return [...(node?.status?.volumesInUse ?? [])].sort().join();
  }

  /** Waits for the step in progress; no other starts after it. */
  async #close(podUid: string): Promise<void> {
    const record = this.#records.get(podUid);
    record?.close();
    this.#objects.release(podUid);
    this.#trustBundles.follow(podUid, false);
    this.#tokens.release(podUid);
    this.#certificates.release(podUid);
    for (const { lock } of record?.entries.values() ?? []) await lock.run(() => {});
  }

  async removeOrphans(podUids: ReadonlySet<string>): Promise<void> {
    let isDone = true;
    const report = (message: string, fields: object) => (error: unknown) => {
      isDone = false;
      this.#deps.logger.warn(message, { ...fields, error });
    };
    const orphans = (await namesIn(this.#deps.directories.pods)).filter((uid) => !podUids.has(uid) && !this.#records.has(uid));
    // In parallel: a driver that does not respond must not block other pods.
    await Promise.all(
      orphans.map((uid) => this.cleanUp(uid).catch(report('volumes of a pod that is gone could not be removed', { pod: uid }))),
    );
    const failed = (plugin: VolumePlugin) => report('volumes that no pod has could not be removed', { plugin: plugin.name });
    await Promise.all(this.#plugins.map((plugin) => plugin.removeOrphans?.().catch(failed(plugin))));
    // A killed kubelet left stale volumesInUse in the node's status.
    await this.#reportInUse().catch(report('the volumes in use could not be reported', {}));
    // The driver may not be registered yet.
    if (isDone || this.#closing.signal.aborted) return;
    this.#orphanTimer?.cancel();
    this.#orphanTimer = this.#deps.clock.setTimer(ORPHAN_RETRY_MS, () => {
      this.removeOrphans(podUids).catch(report('volumes of pods that are gone could not be removed', {}));
    });
  }

  counts(): readonly VolumeCount[] {
    return volumeCounts([...this.#records.values()].flatMap((record) => [...record.entries.values()]));
  }

  async stats(podUid: string): Promise<readonly VolumeUsage[]> {
    const entries = [...(this.#records.get(podUid)?.entries ?? [])];
    const usages = await Promise.all(entries.map(([name, entry]) => this.#namedUsage(podUid, name, entry)));
    return usages.filter((usage) => usage !== undefined);
  }

  async #namedUsage(podUid: string, name: string, entry: VolumeEntry): Promise<VolumeUsage | undefined> {
    const usage = await this.#usageOf(podUid, entry);
    if (usage === undefined) return undefined;
    const { claim: bound, volume } = entry.spec;
    const claim = bound && { namespace: bound.metadata.namespace ?? '', name: bound.metadata.name };
    const { emptyDir, configMap } = volume;
    const isEphemeral = configMap !== undefined || (emptyDir !== undefined && !emptyDir.medium);
    return { name, claim, isEphemeral, ...usage };
  }

  async #usageOf(podUid: string, { spec, plugin, mounted }: VolumeEntry): Promise<FileSystemUsage | undefined> {
    if (mounted === undefined || plugin.name === 'kubernetes.io/host-path') return undefined;
    const path = this.#pathOf(podUid, plugin, spec);
    try {
      if (plugin.usage !== undefined) return await plugin.usage({ path });
      return mounted.hostPath === undefined ? undefined : await directoryUsage(mounted.hostPath);
    } catch (error) {
      // A volume that does not respond does not hide others.
      this.#deps.logger.debug('a volume could not be measured', { pod: podUid, volume: spec.name, error });
      return undefined;
    }
  }

  #pathOf(podUid: string, plugin: VolumePlugin, spec: VolumeSpec): string {
    const { directories } = this.#deps;
    return isBlockVolume(spec.persistentVolume)
      ? directories.blockVolume(podUid, plugin.name, spec.name)
      : directories.volume(podUid, plugin.name, spec.name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new DOMException('the kubelet was stopped', 'AbortError'));
    this.#expansionTimer?.cancel();
    this.#orphanTimer?.cancel();
    for (const record of this.#records.values()) record.close();
    await this.#objects[Symbol.asyncDispose]();
    await this.#trustBundles[Symbol.asyncDispose]();
    await this.#certificates[Symbol.asyncDispose]();
    for (const { entries } of this.#records.values()) for (const { lock } of entries.values()) await lock.run(() => {});
  }

  #recordOf(pod: core.Pod): PodRecord {
    const uid = pod.metadata.uid ?? '';
    const before = this.#records.get(uid);
    const record = before?.isClosed === false ? before : new PodRecord(this.#deps.clock);
    record.observe(pod);
    this.#records.set(uid, record);
    return record;
  }

  async #mountUntil(record: PodRecord, volume: core.Volume, attempt: MountAttempt): Promise<void> {
    const { signal } = attempt;
    const backoff = new Backoff(RETRY);
    while (record.prepared(volume.name) === undefined) {
      signal.throwIfAborted();
      if (record.isClosed) throw new DOMException('the pod has ended', 'AbortError');
      try {
        await this.#mount(record, volume);
      } catch (error) {
        attempt.failed(volume, error);
        if (error instanceof VolumeError) this.#reportFailure(record, error);
        await record.pause(backoff.next(), signal);
      }
    }
    attempt.succeeded(volume);
  }

  async #mount(record: PodRecord, volume: core.Volume): Promise<void> {
    const entry = record.entries.get(volume.name) ?? (await this.#newEntry(record, volume));
    if (entry.attachedName !== undefined) await this.#reportInUse();
    await entry.lock.run(() => this.#setUp(record, entry));
  }

  async #newEntry(record: PodRecord, volume: core.Volume): Promise<VolumeEntry> {
    const spec = await resolveVolume(volume, record.pod, this.#deps.client);
    const plugin = this.#plugins.find((candidate) => candidate.supports(spec));
    if (plugin === undefined)
      throw new Error(`failed to get Plugin from volumeSpec for volume "${spec.name}" err=no volume plugin matched`);
    const attachedName = await plugin.attachedName?.(spec);
    // A concurrent call may have created the entry.
    const entry = record.entries.get(volume.name) ?? { spec, plugin, attachedName, lock: new AsyncMutex(), mounted: undefined };
    record.entries.set(volume.name, entry);
    return entry;
  }

  async #setUp(record: PodRecord, entry: VolumeEntry): Promise<void> {
    if (record.isClosed) return;
    const { spec, plugin } = entry;
    const path = this.#pathOf(record.uid, plugin, spec);
    const pathIn = (podUid: string) => this.#pathOf(podUid, plugin, spec);
    const isBlock = isBlockVolume(spec.persistentVolume);
    const end = this.#begin('volume_mount', plugin.name);
    try {
      await this.#exclusive.reserve({ spec, podUid: record.uid, pathIn });
      const isMapped = isBlock && entry.mounted === undefined;
      entry.mounted = await plugin.setUp({ spec, pod: record.pod, path });
      end(false);
      if (isMapped) this.#reportMapped(record, spec, dirname(path));
    } catch (error) {
      end(true);
      const step = isBlock ? 'MapVolume.MapPodDevice' : 'MountVolume.SetUp';
      throw error instanceof VolumeError || error instanceof NotAttachedError ? error : new VolumeError(step, spec.name, error);
    }
    if (plugin.expand !== undefined && spec.claim !== undefined) {
      await this.#expand(record, entry);
      this.#expansionTimer ??= this.#deps.clock.setTimer(EXPANSION_CHECK_MS, () => void this.#expandAll());
    }
  }

  async #exceedsLimit({ entries }: PodRecord, attempt: MountAttempt): Promise<boolean> {
    for (const name of attempt.unattached()) {
      const entry = entries.get(name);
      if (await entry?.plugin.exceedsLimit?.(entry.spec)) return true;
    }
    return false;
  }

  #begin(name: StorageOperation, plugin: string): (hasFailed: boolean) => void {
    return this.#deps.kubeletMetrics?.beginStorageOperation(name, plugin, this.#deps.clock) ?? (() => {});
  }

  #cleanUpDeps() {
    const begin = (plugin: string) => this.#begin('volume_unmount', plugin);
    return { ...this.#deps, plugins: this.#plugins, signal: this.#closing.signal, begin };
  }

  /** A failed expansion leaves the volume usable. */
  async #expand(record: PodRecord, { plugin, spec }: VolumeEntry): Promise<void> {
    const request = { spec, pod: record.pod, path: this.#pathOf(record.uid, plugin, spec) };
    await expandIfPending({ plugin, request }, this.#deps).catch((error: unknown) => {
      if (!isAbort(error)) this.#deps.logger.debug('a volume could not be enlarged', { volume: spec.name, error });
    });
  }

  /** Repeats as long as there are expandable volumes. Never rejects. */
  async #expandAll(): Promise<void> {
    const growing = [...this.#records.values()].flatMap((record) =>
      [...record.entries.values()].filter(canGrow).map((entry) => ({ record, entry })),
    );
    // In parallel: a driver that does not respond must not block other volumes.
    await Promise.all(
      growing.map(({ record, entry }) => entry.lock.run(() => (record.isClosed ? undefined : this.#expand(record, entry)))),
    );
    this.#expansionTimer = undefined;
    if (growing.length === 0 || this.#closing.signal.aborted) return;
    this.#expansionTimer = this.#deps.clock.setTimer(EXPANSION_CHECK_MS, () => void this.#expandAll());
  }

  #reportFailure({ pod }: PodRecord, error: Error): void {
    const isBlock = error instanceof VolumeError && error.step.startsWith('MapVolume.');
    this.#deps.recorder.warning(pod, isBlock ? 'FailedMapVolume' : 'FailedMount', error.message);
  }

  #reportMapped({ pod }: PodRecord, { name }: VolumeSpec, mapPath: string): void {
    const text = `MapVolume.MapPodDevice succeeded for volume "${name}" volumeMapPath "${mapPath}"`;
    this.#deps.recorder.normal(pod, 'SuccessfulMountVolume', text);
  }

  #sourcesChanged(uids: readonly string[]): void {
    for (const uid of uids) {
      const record = this.#records.get(uid);
      record?.notify();
      if (record !== undefined) void this.#refresh(record);
    }
  }

  /** Updates the files of a pod's volumes. Changes in the meantime are handled afterwards. Never rejects. */
  async #refresh(record: PodRecord): Promise<void> {
    if (record.isRefreshing) {
      record.needsRefresh = true;
      return;
    }
    record.isRefreshing = true;
    let hasFailed = false;
    do {
      record.needsRefresh = false;
      hasFailed = await this.#refreshOnce(record);
    } while (record.needsRefresh && !record.isClosed);
    record.isRefreshing = false;
    this.#scheduleRefresh(record, hasFailed ? this.#deps.clock.now() + REFRESH_RETRY_MS : undefined);
  }

  async #refreshOnce(record: PodRecord): Promise<boolean> {
    let hasFailed = false;
    for (const entry of record.entries.values()) {
      const { plugin, mounted } = entry;
      if (mounted === undefined || (plugin.followsSources !== true && mounted.refreshAtMs === undefined)) continue;
      try {
        await entry.lock.run(() => this.#setUp(record, entry));
      } catch (error) {
        if (record.isClosed || isAbort(error)) return false;
        hasFailed = true;
        this.#reportFailure(record, error as Error);
      }
    }
    return hasFailed;
  }

  #scheduleRefresh(record: PodRecord, retryAtMs?: number): void {
    const times = [retryAtMs, ...Array.from(record.entries.values(), ({ mounted }) => mounted?.refreshAtMs)];
    const due = times.filter((time) => time !== undefined);
    record.setTimer(due.length === 0 ? undefined : minOf(due), () => void this.#refresh(record));
  }
}
