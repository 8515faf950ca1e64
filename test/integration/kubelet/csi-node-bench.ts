import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { core, storage } from '#api';
import { type Component, realClock, seededRandom, silentLogger, VirtualClock } from '#base';
import {
  CsiDrivers,
  CsiNodeObject,
  csiPluginHandler,
  hostMounter,
  NodeVolumes,
  type NodeVolumesDeps,
  PodDirectories,
  startPluginRegistry,
  VolumeLimits,
} from '#kubelet';
import { type CsiDriverOptions, TestCsiDriver } from '../../csi-driver/csi-driver.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';

export const DRIVER = 'disk.example.com';
export const CLAIM = { name: 'c', namespace: 'default' };

export interface BenchVolume {
  readonly bytes?: number;
  readonly volumeMode?: 'Block' | 'Filesystem';
  /** An image with a loop device instead of a directory. */
  readonly isImage?: boolean;
  /** Default: a driver without attachment. */
  readonly driverSpec?: storage.CSIDriverSpec;
  readonly accessMode?: string;
  /** Empty: the driver chooses. */
  readonly fsType?: string;
  /** Of another driver: the volume is then `pv-2`, its claim `c-2`. */
  readonly other?: { readonly name: string; readonly driver: TestCsiDriver };
}

/** A node's volumes with a CSI driver on this machine, and a real API server. Closing it fails when something is still mounted. */
export class CsiNodeBench implements AsyncDisposable {
  readonly events: string[] = [];
  readonly mounter = hostMounter();
  readonly drivers = new CsiDrivers();
  /** Its time is that of the test. */
  readonly limitsClock = new VirtualClock({ startMs: realClock.now() });
  readonly csiNode: CsiNodeObject;
  readonly limits: VolumeLimits;
  registry!: Component;
  driver!: TestCsiDriver;
  volumes!: NodeVolumes;

  private constructor(
    readonly plane: ControlPlane,
    readonly root: string,
    private readonly options: Partial<CsiDriverOptions>,
  ) {
    const { client } = plane;
    this.csiNode = new CsiNodeObject({ client, nodeName: 'node-1' });
    const own = { client, clock: this.limitsClock, random: seededRandom('limits'), logger: silentLogger };
    this.limits = new VolumeLimits({ ...own, drivers: this.drivers, csiNode: this.csiNode });
  }

  static async start(options: Partial<CsiDriverOptions> = {}): Promise<CsiNodeBench> {
    const plane = await startControlPlane();
    const bench = new CsiNodeBench(plane, await mkdtemp(join(tmpdir(), 'csi-')), options);
    await plane.until(async () => (await plane.client.of(core.ServiceAccount).list({ namespace: 'default' })).items.length > 0);
    await plane.client.of(core.Node).create({ metadata: { name: 'node-1' } });
    const { root, drivers, csiNode, limits } = bench;
    const handlers = new Map([['CSIPlugin', csiPluginHandler({ clock: realClock, drivers, csiNode, limits })]]);
    bench.registry = startPluginRegistry(
      { directory: join(root, 'plugins_registry'), handlers },
      { clock: realClock, logger: silentLogger },
    );
    await bench.registry.ready;
    await bench.startDriver();
    bench.openVolumes();
    return bench;
  }

  async startDriver(): Promise<void> {
    this.driver = await TestCsiDriver.start({
      ...{ name: DRIVER, nodeId: 'id-1', root: join(this.root, 'driver'), socket: join(this.root, 'plugins', DRIVER, 'csi.sock') },
      registrationSocket: join(this.root, 'plugins_registry', `${DRIVER}-reg.sock`),
      ...this.options,
    });
    await this.eventually(() => this.driver.isRegistered);
  }

  /** Like a starting kubelet. */
  openVolumes(over: Partial<NodeVolumesDeps> = {}): void {
    const tell = (_: unknown, reason: string, message: string) => void this.events.push(`${reason}: ${message}`);
    this.volumes = new NodeVolumes({
      ...{ client: this.plane.client, clock: realClock, random: seededRandom('volumes'), logger: silentLogger, mounter: this.mounter },
      ...{
        drivers: this.drivers,
        limits: this.limits,
        nodeName: 'node-1',
        directories: new PodDirectories(this.root),
        allocatable: () => undefined,
      },
      recorder: { normal: tell, warning: tell, record: () => {} },
      ...over,
    });
  }

  async eventually(check: () => Promise<boolean> | boolean): Promise<void> {
    for (let i = 0; i < 3_000 && !(await check()); i++) await realClock.sleep(10);
    expect(await check()).toBe(true);
  }

  /** A claim bound to a volume of the driver. */
  async makeVolume(options: BenchVolume = {}): Promise<void> {
    const { bytes = 2 ** 24, volumeMode = 'Filesystem', isImage = volumeMode === 'Block', other } = options;
    const { driverSpec = { attachRequired: false }, accessMode = 'ReadWriteOnce', fsType = 'ext4' } = options;
    const { client } = this.plane;
    const { name: driverName, driver } = other ?? { name: DRIVER, driver: this.driver };
    const [key, volumeName, className] = other ? [{ ...CLAIM, name: 'c-2' }, 'pv-2', 'fast-2'] : [CLAIM, 'pv-1', 'fast'];
    const volume = { id: 'vol-1', name: 'one', bytes, nodes: [], exclusive: true, backing: isImage ? 'image' : 'directory' } as const;
    await driver.state.put(volume);
    if (isImage) await writeFile(driver.state.content(volume), Buffer.alloc(0)).then(() => truncate(driver.state.content(volume), bytes));
    else await mkdir(driver.state.directory('vol-1'), { recursive: true });
    await client.of(storage.CSIDriver).create({ metadata: { name: driverName }, spec: driverSpec });
    const size = { storage: String(bytes) };
    const shared = { accessModes: [accessMode], storageClassName: className, volumeMode };
    await client.of(storage.StorageClass).create({ metadata: { name: className }, provisioner: driverName, allowVolumeExpansion: true });
    const claims = client.of(core.PersistentVolumeClaim);
    const claim = await claims.create({ metadata: key, spec: { ...shared, resources: { requests: size }, volumeName } });
    await client.of(core.PersistentVolume).create({
      metadata: { name: volumeName },
      spec: {
        ...{ ...shared, capacity: size, claimRef: { ...key, ...(claim.metadata.uid && { uid: claim.metadata.uid }) } },
        csi: { driver: driverName, volumeHandle: 'vol-1', ...(volumeMode === 'Filesystem' && fsType && { fsType }) },
      },
    });
    await this.plane.until(async () => (await claims.get(key)).status?.phase === 'Bound');
  }

  makePod(name: string, container: object = { volumeMounts: [{ name: 'v', mountPath: '/v' }] }, over: object = {}): Promise<core.Pod> {
    const containers = [{ name: 'c', image: 'x', ...container }];
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
    const spec = { automountServiceAccountToken: false, containers, volumes, ...over };
    return this.plane.client.of(core.Pod).create({ metadata: { name, namespace: 'default' }, spec } as never);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.volumes[Symbol.asyncDispose]();
    await this.driver[Symbol.asyncDispose]();
    await this.registry[Symbol.asyncDispose]();
    await this.limits[Symbol.asyncDispose]();
    this.drivers[Symbol.dispose]();
    const left = (await this.mounter.mountsBelow(this.root)).map(({ path }) => path);
    await this.mounter.unmount(...left.toReversed());
    await rm(this.root, { recursive: true });
    // Lets node controllers finish steps that wait for the clock.
    const closed = this.plane[Symbol.asyncDispose]();
    await this.plane.clock.advance(60_000);
    await closed;
    expect(left).toEqual([]);
  }
}
