import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '#base';
import { openEtcdStore } from '../etcd/etcd-store.ts';
import { freePort } from './free-port.ts';
import { PeerProxy } from './peer-proxy.ts';

export interface EtcdMember {
  readonly name: string;
  /** Where clients connect. */
  readonly endpoint: string;
  readonly process: ChildProcess;
}

export interface EtcdMembersOptions {
  /** Default 1. */
  readonly count?: number;
  /** Client certificates, as files; members then require them. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  /** Data directories to begin with, one for each member: restored snapshots. */
  readonly dataFrom?: string;
  readonly flags?: readonly string[];
  /** The directory of the programs. Default: those on the PATH. */
  readonly programs?: string | undefined;
}

/** Real etcd servers on loopback ports in a temporary directory, and ways to make them fail. */
export interface EtcdMembers extends AsyncDisposable {
  readonly endpoints: readonly string[];
  readonly members: readonly EtcdMember[];
  /** The index of the leader, as the members see it. */
  leader(): Promise<number>;
  /** Ends the process at once. */
  kill(index: number): Promise<void>;
  /** Restarts it with its data. */
  restart(index: number): Promise<void>;
  pause(index: number): void;
  resume(index: number): void;
  /** Lets no packet pass between the member and the others; clients still reach it. */
  cutOff(index: number): void;
  reconnect(index: number): void;
}

const MISSING = 'is not installed: these tests need the real etcd (Debian: apt-get install etcd-server etcd-client)';

const MAX_OUTPUT_TAIL = 2_000;

/** Returns what to run. Throws if it is not there. */
export function requireEtcd(name: 'etcd' | 'etcdctl', directory = ''): string {
  const program = join(directory, name);
  if (spawnSync(program, [name === 'etcd' ? '--version' : 'version']).error !== undefined) throw new Error(`${program} ${MISSING}`);
  return program;
}

export async function startEtcd(options: EtcdMembersOptions = {}): Promise<EtcdMembers> {
  requireEtcd('etcd', options.programs);
  const cluster = new Members(await mkdtemp(join(tmpdir(), 'sampan-etcd-')), options);
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

interface Ports {
  readonly client: number;
  readonly peer: number;
}

class Members implements EtcdMembers {
  readonly #directory: string;
  readonly #options: EtcdMembersOptions;
  readonly #proxies: PeerProxy[] = [];
  readonly #ports: Ports[] = [];
  readonly #members: EtcdMember[] = [];
  /** The end of each member's log, for failed starts. */
  readonly #outputTail: string[] = [];

  constructor(directory: string, options: EtcdMembersOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  get members(): readonly EtcdMember[] {
    return this.#members;
  }

  get endpoints(): readonly string[] {
    return this.#members.map(({ endpoint }) => endpoint);
  }

  async start(): Promise<void> {
    const count = this.#options.count ?? 1;
    for (let i = 0; i < count; i++) {
      this.#ports.push({ client: await freePort(), peer: await freePort() });
      this.#proxies.push(await PeerProxy.start(this.#ports[i]!.peer));
    }
    for (let i = 0; i < count; i++) this.#members.push(this.#spawn(i));
    await Promise.all(this.#members.map((_, index) => this.#healthy(index)));
  }

  #spawn(index: number): EtcdMember {
    const { client, peer } = this.#ports[index]!;
    const { tls, flags = [], dataFrom, programs = '' } = this.#options;
    const endpoint = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${client}`;
    const peers = this.#proxies.map((proxy, i) => `m${i}=http://127.0.0.1:${proxy.port}`).join(',');
    const args = [
      ...['--name', `m${index}`, '--data-dir', dataFrom ?? join(this.#directory, `m${index}`)],
      ...['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
      ...[
        '--listen-peer-urls',
        `http://127.0.0.1:${peer}`,
        '--initial-advertise-peer-urls',
        `http://127.0.0.1:${this.#proxies[index]!.port}`,
      ],
      ...['--initial-cluster', dataFrom === undefined ? peers : `m0=http://127.0.0.1:${this.#proxies[0]!.port}`],
      ...['--heartbeat-interval', '50', '--election-timeout', '500', '--logger', 'zap', '--log-level', 'error'],
      ...(tls === undefined ? [] : ['--cert-file', tls.cert, '--key-file', tls.key, '--trusted-ca-file', tls.ca, '--client-cert-auth']),
      ...flags,
    ];
    const child = spawn(join(programs, 'etcd'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#outputTail[index] = `${this.#outputTail[index] ?? ''}${text}`.slice(-MAX_OUTPUT_TAIL);
    });
    return { name: `m${index}`, endpoint, process: child };
  }

  async #healthy(index: number): Promise<void> {
    const member = this.#members[index]!;
    const deadline = realClock.monotonic() + 30_000;
    while (!(await answers(member, this.#options.tls))) {
      if (member.process.exitCode !== null)
        throw new Error(`${member.name} of etcd ended with code ${member.process.exitCode}: ${this.#outputTail[index] ?? ''}`);
      if (realClock.monotonic() > deadline) throw new Error(`${member.name} of etcd did not become healthy`);
      await realClock.sleep(30);
    }
  }

  async leader(): Promise<number> {
    const result = spawnSync('etcdctl', ['--endpoints', this.endpoints.join(','), 'endpoint', 'status', '--write-out', 'json'], {
      env: { ...process.env, ETCDCTL_API: '3' },
      timeout: 10_000,
    });
    if (result.error !== undefined) throw new Error(`etcdctl ${MISSING}`, { cause: result.error });
    const status = JSON.parse(result.stdout.toString() || '[]') as {
      Endpoint: string;
      Status: { leader: number; header: { member_id: number } };
    }[];
    const leader = status.find(({ Status }) => Status.leader === Status.header.member_id);
    return this.#members.findIndex(({ endpoint }) => endpoint === leader?.Endpoint);
  }

  async kill(index: number): Promise<void> {
    const { process: child } = this.#members[index]!;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async restart(index: number): Promise<void> {
    await this.kill(index);
    this.#members[index] = this.#spawn(index);
    await this.#healthy(index);
  }

  pause(index: number): void {
    this.#members[index]!.process.kill('SIGSTOP');
  }

  resume(index: number): void {
    this.#members[index]!.process.kill('SIGCONT');
  }

  cutOff(index: number): void {
    for (const [i, proxy] of this.#proxies.entries()) proxy.block(i === index ? 'all' : this.#proxies[index]!.memberId);
  }

  reconnect(index: number): void {
    for (const [i, proxy] of this.#proxies.entries()) proxy.unblock(i === index ? 'all' : this.#proxies[index]!.memberId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((_, index) => this.kill(index)));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await rm(this.#directory, { recursive: true, force: true });
  }
}

async function answers({ endpoint }: EtcdMember, tls: EtcdMembersOptions['tls']): Promise<boolean> {
  if (tls !== undefined) return acceptsTcp(endpoint);
  try {
    await using store = await openEtcdStore({ endpoints: [endpoint], callTimeoutMs: 500, historyWindowMs: Number.POSITIVE_INFINITY });
    return (await store.revision()) > 0;
  } catch {
    return false;
  }
}

/** With certificates that only the test has, it is enough that someone listens. */
async function acceptsTcp(endpoint: string): Promise<boolean> {
  const { connect } = await import('node:net');
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}
