import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ProgramError, type Random, realClock, runProgram } from '#base';
import type { ClusterPki } from '#cluster';
import { hostMounter } from '#kubelet';
import { freePort } from '../../../src/store/contract/free-port.ts';
import type { ChildProgram, RunningProgram } from '../child-program.ts';
import { LONG } from '../length.ts';
import { NODES } from './storage-lives.ts';

const DRIVER = 'disk.example.com';
const LIVES = 6;
/** A long run has several schedules at once, and may share its machine with others. */
const FINISH_MS = LONG ? 1_500_000 : 300_000;
const FAULTY_CALLS = [
  ...['CreateVolume', 'DeleteVolume', 'ControllerPublishVolume', 'ControllerUnpublishVolume'],
  ...['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'],
];
const mounter = hostMounter();

export interface KillSchedulePrograms {
  readonly part: ChildProgram;
  readonly driver: ChildProgram;
  readonly pki: ClusterPki;
}

/** The processes of a cluster: one for everything, or one for each part. */
const ONE_PROCESS = [''];
const PARTS = ['server', 'manager', ...NODES];

/** A cluster and a driver whose processes can be killed and restarted at any moment. */
export class KillSchedule implements AsyncDisposable {
  readonly #ending = new AbortController();
  readonly #running = new Map<string, RunningProgram>();
  readonly #cluster: readonly string[];

  private constructor(
    private readonly directory: string,
    private readonly port: number,
    private readonly programs: KillSchedulePrograms,
    private readonly random: Random,
  ) {
    this.#cluster = random.float() < 0.5 ? ONE_PROCESS : PARTS;
  }

  static async start(programs: KillSchedulePrograms, random: Random): Promise<KillSchedule> {
    const schedule = new KillSchedule(await mkdtemp(join(tmpdir(), 'kill-')), await freePort(), programs, random);
    await writeFile(join(schedule.directory, 'pki.json'), JSON.stringify(programs.pki), { mode: 0o600 });
    for (const name of ['driver', ...schedule.#cluster]) await schedule.#start(name);
    return schedule;
  }

  async #start(name: string): Promise<void> {
    if (name !== 'driver') {
      const { directory, port } = this;
      this.#running.set(name, this.programs.part.start([directory, DRIVER, String(LIVES), String(port), name]));
      return;
    }
    const options = NODES.map((node, index) => ({
      ...{ name: DRIVER, nodeId: node, root: join(this.directory, 'driver'), controller: index === 0 },
      socket: join(this.directory, node, 'csi.sock'),
      registrationSocket: join(this.directory, node, 'plugins_registry/reg.sock'),
    }));
    const faults = FAULTY_CALLS.filter(() => this.random.float() < 0.3).map((call) => [
      call,
      this.random.float() < 0.5 ? 'fail-once' : 'fail-after-acting',
    ]);
    const driver = this.programs.driver.start([JSON.stringify(options), JSON.stringify(Object.fromEntries(faults))]);
    this.#running.set(name, driver);
    await driver.wrote(1);
  }

  /** Kills some of the processes after a while, and restarts them. */
  async kill(): Promise<void> {
    // Mostly while lives are in progress, sometimes during a start.
    if (this.random.float() < 0.8) for (const name of this.#cluster) await this.#running.get(name)?.wrote(1);
    await realClock.sleep(this.random.float() * 3000);
    const victims = this.#victims();
    await appendFile(join(this.directory, 'log'), `kill -9 of ${victims.map((name) => name || 'the cluster').join(', ')}\n`);
    for (const name of victims) await this.#end(name);
    // Sometimes the others have time to notice.
    if (this.random.float() < 0.3) await realClock.sleep(this.random.float() * 3000);
    for (const name of victims) await this.#start(name);
  }

  /** Mostly one process, otherwise the whole cluster, with or without the driver. */
  #victims(): readonly string[] {
    const all = ['driver', ...this.#cluster];
    const choice = this.random.float();
    if (choice < 0.15) return all;
    if (choice < 0.3) return this.#cluster;
    return [all[Math.floor(this.random.float() * all.length)] ?? 'driver'];
  }

  /** Resolves when the cluster reports that all lives are over. */
  async finish(): Promise<void> {
    const lives = this.#running.get(this.#cluster[0] ?? '');
    // Before the test's timeout: the processes must be ended.
    await Promise.race([lives?.wrote(2), realClock.sleep(FINISH_MS, this.#ending.signal).catch(() => {})]);
    const log = (await readFile(join(this.directory, 'log'), 'utf8')).slice(-4000);
    const errors = [...this.#running].map(([name, program]) => `${name}${program.errors.join('')}`);
    expect(errors, log).toEqual([...this.#running.keys()]);
    expect(lives?.lines, log).toEqual(['ready', 'finished']);
  }

  async leftovers(): Promise<object> {
    const names = (path: string) => readdir(join(this.directory, path)).catch(() => []);
    const node = async (name: string) => [
      ...(await names(`${name}/pods`)),
      ...(await names(`${name}/plugins/kubernetes.io/csi/${DRIVER}`)),
      ...(await names(`${name}/local-volumes`)),
    ];
    const text = (path: string) => readFile(join(this.directory, path), 'utf8').catch(() => '');
    return {
      mounts: (await mounter.mountsBelow(this.directory)).map(({ path }) => path),
      loops: (await runProgram('losetup', ['--list'])).split('\n').filter((line) => line.includes(this.directory)),
      nodes: (await Promise.all(NODES.map(node))).flat(),
      volumes: await names('driver/volumes'),
      violations: (await text('violations')) + (await text('driver/violations')),
    };
  }

  async #end(name: string): Promise<void> {
    const program = this.#running.get(name);
    program?.process.kill('SIGKILL');
    await program?.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    for (const name of this.#running.keys()) await this.#end(name);
    await mounter.unmount(...(await mounter.mountsBelow(this.directory)).map(({ path }) => path).reverse());
    const loops = (await runProgram('losetup', ['--noheadings', '--output', 'NAME,BACK-FILE'])).split('\n');
    // A device disappears shortly after its last mount: it may be gone already.
    for (const line of loops.filter((text) => text.includes(`${this.directory}/`)))
      await runProgram('losetup', ['--detach', line.trim().split(/\s+/)[0] ?? '']).catch(ignoreGone);
    await rm(this.directory, { recursive: true, force: true });
  }
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof ProgramError) || !error.message.includes('No such device')) throw error;
}
