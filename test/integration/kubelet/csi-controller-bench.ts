import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { core, storage } from '#api';
import { type Component, realClock, seededRandom, silentLogger } from '#base';
import { CsiDriver, startCsiController } from '#kubelet';
import { isStatusReason } from '#machinery';
import { type CsiDriverOptions, TestCsiDriver } from '../../csi-driver/csi-driver.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';

export const DRIVER = 'disk.example.com';
/** Time for several failed attempts: the backoff doubles from a second. */
const RETRIES_MS = 90_000;
export const CLAIM = { name: 'c', namespace: 'default' };

/** A control plane, a driver with a controller service, and the sidecars' replacement. The class is called `fast`. */
export class CsiControllerBench implements AsyncDisposable {
  readonly driver: CsiDriver;
  controller!: Component;

  private constructor(
    readonly plane: ControlPlane,
    readonly root: string,
    readonly server: TestCsiDriver,
  ) {
    this.driver = new CsiDriver(DRIVER, join(root, 'csi.sock'), realClock);
  }

  static async start(options: Partial<CsiDriverOptions> = {}): Promise<CsiControllerBench> {
    const plane = await startControlPlane();
    const root = await mkdtemp(join(tmpdir(), 'csi-'));
    const own = { name: DRIVER, nodeId: 'id-1', root: join(root, 'driver'), socket: join(root, 'csi.sock'), topology: { zone: 'a' } };
    const bench = new CsiControllerBench(plane, root, await TestCsiDriver.start({ ...own, ...options }));
    const fast = { metadata: { name: 'fast' }, provisioner: DRIVER, parameters: { type: 'ssd' }, allowVolumeExpansion: true };
    await plane.client.of(storage.StorageClass).create(fast);
    await bench.makeNode('node-1', { zone: 'a' });
    await bench.startController();
    return bench;
  }

  /** A node with the driver. */
  async makeNode(name: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const { client } = this.plane;
    await client.of(core.Node).create({ metadata: { name, labels } });
    const drivers = [{ name: DRIVER, nodeID: name.replace('node', 'id'), topologyKeys: Object.keys(labels) }];
    await client.of(storage.CSINode).create({ metadata: { name }, spec: { drivers } });
  }

  async startController(): Promise<void> {
    const { client } = this.plane;
    const own = { driver: this.driver, client, clock: realClock, random: seededRandom('csi'), logger: silentLogger };
    this.controller = startCsiController({}, own);
    // The server's own controllers, which establish CRDs, run on the plane's clock.
    const ready = { isReady: false };
    void this.controller.ready.then(() => Object.assign(ready, { isReady: true }));
    await this.until(async () => ready.isReady);
  }

  /** The controller retries in real time, with backoff; the server's own controllers run on the plane's clock. */
  async until(check: () => Promise<boolean>): Promise<void> {
    const advanceAndCheck = async () => {
      await this.plane.clock.advance(500);
      return check();
    };
    await expect.poll(advanceAndCheck, { interval: 10, timeout: RETRIES_MS }).toBe(true);
  }

  isGone(read: Promise<unknown>): Promise<boolean> {
    return read.then(
      () => false,
      (error: unknown) => isStatusReason(error, 'NotFound'),
    );
  }

  async createClaim(spec: object = {}, metadata: { readonly name: string; readonly namespace: string } = CLAIM): Promise<void> {
    const claim = { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } }, ...spec };
    await this.plane.client.of(core.PersistentVolumeClaim).create({ metadata, spec: claim });
  }

  /** The name of the claim's bound volume. */
  async makeBoundClaim(spec: object = {}, metadata = CLAIM): Promise<string> {
    const claims = this.plane.client.of(core.PersistentVolumeClaim);
    await this.createClaim(spec, metadata);
    await this.until(async () => (await claims.get(metadata)).status?.phase === 'Bound');
    return (await claims.get(metadata)).spec?.volumeName ?? '';
  }

  claim(metadata = CLAIM): Promise<core.PersistentVolumeClaim> {
    return this.plane.client.of(core.PersistentVolumeClaim).get(metadata);
  }

  async eventReasons(): Promise<readonly (string | undefined)[]> {
    return (await this.plane.client.of(core.Event).list()).items.map(({ reason }) => reason);
  }

  async eventMessages(): Promise<readonly string[]> {
    return (await this.plane.client.of(core.Event).list()).items.map(({ reason, message }) => `${reason}: ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.controller[Symbol.asyncDispose]();
    this.driver[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
    await rm(this.root, { recursive: true });
    const closed = this.plane[Symbol.asyncDispose]();
    await this.plane.clock.advance(60_000);
    await closed;
  }
}
