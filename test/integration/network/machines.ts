import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { KernelNetwork, runProgram } from '#base';

/** Relative to the root, since benchmarks bundle this file. */
const PROGRAM = path.resolve('test/integration/network/endpoint-program.mjs');
const SCTP_PROGRAM = path.resolve('test/integration/network/sctp-endpoint.pl');

/** Why SCTP cannot be tested; undefined when it can. */
export function sctpProblem(): string | undefined {
  return spawnSync('perl', ['-MSocket', '-MTime::HiRes', '-e', '1']).status === 0 ? undefined : 'perl is not installed';
}

/** Why this machine cannot run tests in network namespaces; undefined when it can. */
export function namespacesProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  for (const program of ['ip', 'nft', 'nsenter', 'sysctl', 'conntrack']) {
    if (spawnSync(program, ['--version']).error) return `${program} is not installed`;
  }
  const name = `sampan-probe-${process.pid}`;
  if (spawnSync('ip', ['netns', 'add', name]).status !== 0) return 'network namespaces cannot be made here';
  spawnSync('ip', ['netns', 'del', name]);
  return undefined;
}

export interface Reply {
  readonly name: string;
  /** The client's address as the server saw it. */
  readonly from: string;
}

export type Outcome = { readonly reply: Reply } | { readonly failure: string };

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly protocol?: 'tcp' | 'udp';
  readonly timeoutMs?: number;
  /** UDP: the client's source port. Default: any. */
  readonly localPort?: number;
}

/** A network namespace with a program that listens and connects. */
export class Namespace implements AsyncDisposable {
  readonly path: string;
  readonly kernel: KernelNetwork;
  #child: ChildProcess | undefined;
  readonly #programs: ChildProcess[] = [];
  #next = 0;
  readonly #waiting = new Map<number, (answer: Record<string, unknown>) => void>();

  private constructor(readonly name: string) {
    this.path = `/run/netns/${name}`;
    this.kernel = new KernelNetwork(this.path);
  }

  static async create(name: string): Promise<Namespace> {
    await runProgram('ip', ['netns', 'add', name]);
    const namespace = new Namespace(name);
    await namespace.kernel.ip([['link', 'set', 'lo', 'up']]);
    return namespace;
  }

  async listen(port: number, options: { name?: string; protocol?: 'tcp' | 'udp'; host?: string } = {}): Promise<void> {
    const answer = await this.#ask({ command: 'listen', port, name: this.name, ...options });
    if (answer.failure) throw new Error(`cannot listen on ${port} in ${this.name}: ${answer.failure}`);
  }

  async connect(target: Target): Promise<Outcome> {
    return (await this.#ask({ command: 'connect', ...target })) as unknown as Outcome;
  }

  /** The name of the responding server, or the error. */
  async reach(target: Target): Promise<string> {
    const outcome = await this.connect(target);
    return 'reply' in outcome ? outcome.reply.name : outcome.failure;
  }

  /** Throws without a response: tests of lasting connections need an established one. */
  async open(key: string, target: Target): Promise<void> {
    const { failure } = await this.#ask({ command: 'open', key, ...target });
    if (failure) throw new Error(`no connection from ${this.name} to ${target.host}:${target.port}: ${failure}`);
  }

  async echo(key: string, text: string): Promise<string> {
    const answer = await this.#ask({ command: 'echo', key, text });
    return String(answer.reply ?? answer.failure);
  }

  /** Serves SCTP at a port, for one family. */
  async listenSctp(family: 4 | 6, port: number): Promise<void> {
    const child = spawn('nsenter', [`--net=${this.path}`, '--', 'perl', SCTP_PROGRAM, 'listen', `${family}`, `${port}`, this.name], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#programs.push(child);
    await once(child.stdout, 'data');
  }

  /** The name of the responding server, or the error. */
  async reachSctp({ host, port, timeoutMs = 1000 }: Target): Promise<string> {
    const args = ['connect', host.includes(':') ? '6' : '4', host, `${port}`, `${timeoutMs}`];
    return (await this.kernel.run('perl', [SCTP_PROGRAM, ...args])).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) {
      const closed = once(program, 'close');
      program.kill('SIGKILL');
      await closed;
    }
    const child = this.#child;
    if (child) {
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.stdin?.end();
      await closed;
    }
    await runProgram('ip', ['netns', 'del', this.name]);
  }

  #ask(command: object): Promise<Record<string, unknown>> {
    this.#child ??= this.#start();
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child?.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
    });
  }

  #start(): ChildProcess {
    const child = spawn('nsenter', [`--net=${this.path}`, '--', process.execPath, PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    readline.createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, ...answer } = JSON.parse(line) as Record<string, unknown>;
      this.#waiting.get(id as number)?.(answer);
      this.#waiting.delete(id as number);
    });
    return child;
  }
}

/** Machines, pods and switches of one test, which are removed together. */
export class Lab implements AsyncDisposable {
  readonly #namespaces: Namespace[] = [];
  #count = 0;

  private constructor(readonly directory: string) {}

  static async create(): Promise<Lab> {
    return new Lab(await mkdtemp(path.join(os.tmpdir(), 'sampan-network-')));
  }

  async namespace(name: string): Promise<Namespace> {
    const namespace = await Namespace.create(`smp-${process.pid}-${this.#count++}-${name}`);
    this.#namespaces.push(namespace);
    return namespace;
  }

  /** A link between machines, with the address of each, such as 192.168.7.1/24. */
  async link(members: readonly { machine: Namespace; device: string; addresses: readonly string[] }[]): Promise<Namespace> {
    const hub = await this.namespace('hub');
    await hub.kernel.ip([
      ['link', 'add', 'hub0', 'type', 'bridge'],
      ['link', 'set', 'hub0', 'up'],
    ]);
    for (const [i, { machine, device, addresses }] of members.entries()) {
      await hub.kernel.ip([
        ['link', 'add', `port${i}`, 'type', 'veth', 'peer', 'name', device, 'netns', machine.path],
        ['link', 'set', `port${i}`, 'master', 'hub0', 'up'],
      ]);
      // The link-local address must be usable at once as well: neighbour discovery uses it for forwarded packets.
      await machine.kernel.sysctl({ [`net.ipv6.conf.${device}.accept_dad`]: '0' });
      await machine.kernel.ip([
        ['link', 'set', device, 'up'],
        ...addresses.map((address) => ['addr', 'add', address, 'dev', device, ...(address.includes(':') ? ['nodad'] : [])]),
      ]);
    }
    return hub;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const namespace of this.#namespaces.toReversed()) await namespace[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
