import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '#base';
import { busyboxArchive } from '../../src/kubelet/containerd/busybox-archive.test-data.ts';
import { whyNoContainers } from '../../src/kubelet/containerd/containerd.test-setup.ts';
import { type Outcome, PROGRAM, Workplace } from './sampan-process.ts';

export { whyNoContainers };

/**
 * A cluster with a real node: `sampan up` with its own containerd, in its own network and mount namespaces, so that bridges, rules, ports
 * and mounts of several test files do not collide. The image `busybox:1` is loaded. Tests run all their programs in these namespaces.
 */
export class RealNode implements AsyncDisposable {
  readonly at = new Workplace();
  readonly #namespace: ChildProcess;

  private constructor(namespace: ChildProcess) {
    this.#namespace = namespace;
  }

  static async start(...options: readonly string[]): Promise<RealNode> {
    const namespace = spawn('unshare', ['--net', '--mount', '--propagation', 'private', 'sleep', 'infinity'], { stdio: 'ignore' });
    await once(namespace, 'spawn');
    const node = new RealNode(namespace);
    try {
      await node.#waitForNamespace();
      await node.#run('ip', ['link', 'set', 'lo', 'up']);
      // An address for the node, and a default route to nowhere.
      await node.#run('ip', ['link', 'add', 'eth0', 'type', 'bridge']);
      await node.#run('ip', ['address', 'add', '198.51.100.2/24', 'dev', 'eth0']);
      await node.#run('ip', ['link', 'set', 'eth0', 'up']);
      await node.#run('ip', ['route', 'add', 'default', 'via', '198.51.100.1']);
      await node.up(...options);
      await node.loadBusybox();
      return node;
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
  }

  get dataDirectory(): string {
    return this.at.path('.local/share/sampan/default');
  }

  /** Starts the cluster, also again after a stop or a kill. */
  async up(...options: readonly string[]): Promise<void> {
    await this.#expect(this.sampan('up', '--runtime', 'containerd', '-d', ...options));
  }

  /** The cluster's process. */
  async pid(): Promise<number> {
    const { pid } = JSON.parse((await this.sampan('status', '--output', 'json')).stdout) as { pid: number };
    return pid;
  }

  /** The node's own containerd. */
  containerd(): { readonly pid: number; readonly runDirectory: string } {
    for (const name of readdirSync('/run/sampan')) {
      const runDirectory = path.join('/run/sampan', name);
      const file = path.join(runDirectory, 'containerd.json');
      if (!existsSync(file)) continue;
      const { pid, config } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; config: string };
      if (config.includes(this.dataDirectory)) return { pid, runDirectory };
    }
    throw new Error('the node has no containerd');
  }

  /** Simulates a reboot: no process, no mount, no link, nothing in /run, another boot id. */
  async loseEverything(): Promise<void> {
    const { pid, runDirectory } = this.containerd();
    const owners = [await this.pid(), pid, ...processesNaming(runDirectory)];
    for (const owner of new Set([...owners, ...owners.flatMap(childrenOf)])) killNow(owner);
    const mounts = (await this.run('cat', ['/proc/self/mountinfo'])).stdout.split('\n').map((line) => line.split(' ')[4] ?? '');
    const own = mounts.filter((point) => point.startsWith(runDirectory) || point.startsWith(this.dataDirectory));
    for (const point of own.reverse()) await this.#run('umount', ['--lazy', point]);
    rmSync(runDirectory, { recursive: true, force: true });
    await this.run('ip', ['link', 'delete', 'sampan0']);
    await this.#run('nft', ['flush', 'ruleset']);
    await writeFile(this.at.path('boot-id'), `${randomUUID()}\n`);
    await this.#run('mount', ['--bind', this.at.path('boot-id'), '/proc/sys/kernel/random/boot_id']);
  }

  async loadBusybox(...names: readonly string[]): Promise<void> {
    const file = this.at.path('busybox.tar');
    await writeFile(file, await busyboxArchive(...names));
    await this.#expect(this.sampan('image', 'load', file));
  }

  sampan(...args: readonly string[]): Promise<Outcome> {
    return this.run(process.execPath, [PROGRAM, ...args]);
  }

  /** kubectl's output; the command must succeed. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return (await this.#expect(this.run('kubectl', args))).stdout.trim();
  }

  async apply(manifest: string): Promise<void> {
    await this.#expect(this.run('kubectl', ['apply', '-f', '-'], manifest));
  }

  /** Runs a program in the node's namespaces. */
  run(program: string, args: readonly string[], input?: string): Promise<Outcome> {
    return this.at.run('nsenter', [...this.enter, program, ...args], input);
  }

  /** nsenter's arguments for the node's namespaces, for tests that start their own programs. */
  get enter(): readonly string[] {
    return ['--target', String(this.#namespace.pid), '--net', '--mount', `--wd=${this.at.home}`, '--'];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sampan('delete', '--yes');
    const ended = once(this.#namespace, 'exit');
    this.#namespace.kill('SIGKILL');
    await ended;
    await this.at[Symbol.asyncDispose]();
  }

  async #waitForNamespace(): Promise<void> {
    // unshare execs sleep once it is in the new namespaces.
    for (let i = 0; i < 500; i++) {
      const name = await runProgram('cat', [`/proc/${this.#namespace.pid}/comm`]).catch(() => '');
      if (name.trim() === 'sleep') return;
      if (!existsSync(`/proc/${this.#namespace.pid}`)) break;
    }
    throw new Error('could not make namespaces for the node');
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    await this.#expect(this.run(program, args));
  }

  async #expect(outcome: Promise<Outcome>): Promise<Outcome> {
    const ended = await outcome;
    if (ended.code !== 0) throw new Error(`${ended.stderr.trim() || ended.stdout.trim()} (exit code ${ended.code})`);
    return ended;
  }
}

/** Container shims outlive their containerd, and have its directory in their arguments. */
function processesNaming(directory: string): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readOrEmpty(`/proc/${pid}/cmdline`).includes(directory)).map(Number);
}

function childrenOf(pid: number): readonly number[] {
  const text = readOrEmpty(`/proc/${pid}/task/${pid}/children`).trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
