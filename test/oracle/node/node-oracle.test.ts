import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { runProgram } from '#base';
import { busyboxArchive } from '../../../src/kubelet/containerd/busybox-archive.test-data.ts';
import { whyNoContainers } from '../../../src/kubelet/containerd/containerd.test-setup.ts';

// Replays what a real kubelet made of pods (README.md beside this file) on a real node of ours. The scenarios that pass are listed in
// passing.json, and that list only grows:
//   UPDATE_ORACLE=1 npx vitest run test/oracle/node
const here = import.meta.dirname;
const root = path.resolve(here, '../../..');
const listFile = path.join(here, 'passing.json');
const ADDRESS = '192.168.199.1';
const JOBS = 12;
const TIMEOUT_MS = 1_500_000;

interface ScenarioReport {
  readonly suite: string;
  readonly scenario: string;
  readonly failures: readonly { readonly what: string; readonly diffs: readonly string[] }[];
}

/** A cluster with one real node, in a network and mounts of its own. */
async function withNode<T>(directory: string, use: (kubeconfig: string, namespace: string) => Promise<T>): Promise<T> {
  const id = randomBytes(4).toString('hex');
  const namespace = `sampan-oracle-${id}`;
  const program = path.join(root, 'node_modules', '.cache', `real-cluster-${id}.mjs`);
  await mkdir(path.dirname(program), { recursive: true });
  const entry = path.join(here, 'real-cluster.ts');
  const format = { bundle: true, platform: 'node', format: 'esm', target: 'node20', packages: 'external' } as const;
  await build({ ...format, conditions: ['source'], entryPoints: [entry], outfile: program, logLevel: 'error' });
  const image = path.join(directory, 'busybox.tar');
  await writeFile(image, await busyboxArchive());
  await makeNetwork(namespace);
  const flags = ['--data', path.join(directory, 'node'), '--run', `/run/sampan/${id}`, '--ip', ADDRESS, '--image', image];
  const inside = [`--net=/run/netns/${namespace}`, 'unshare', '--mount', '--propagation', 'shared', process.execPath, program, ...flags];
  const child = spawn('nsenter', inside, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  try {
    return await use(await readyLine(child.stdout), namespace);
  } finally {
    child.stdin.end();
    await ended;
    await runProgram('ip', ['netns', 'delete', namespace]);
    await rm(program, { force: true });
  }
}

async function readyLine(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) if (line.startsWith('ready ')) return line.slice('ready '.length);
  throw new Error('the node did not start');
}

async function makeNetwork(namespace: string): Promise<void> {
  await runProgram('ip', ['netns', 'add', namespace]);
  const inside = (...args: readonly string[]) => runProgram('ip', ['-n', namespace, ...args]);
  await inside('link', 'set', 'lo', 'up');
  await inside('link', 'add', 'eth0', 'type', 'bridge');
  await inside('addr', 'add', `${ADDRESS}/24`, 'dev', 'eth0');
  await inside('link', 'set', 'eth0', 'up');
  await inside('route', 'add', 'default', 'dev', 'eth0');
}

/** Recordings of what kubectl 1.36 itself prints; others print something else. */
const KUBECTL_TEXTS: ReadonlySet<string> = new Set([
  'lifecycle / logs --previous without a previous run',
  'security-resources-streams / scheduling: extended resource that no node has',
  'security-resources-streams / logs: previous of a container that never restarted',
  'security-resources-streams / exec: unknown container and pod',
  'security-resources-streams / exec: one container of two has ended',
  'security-resources-streams / debug: ephemeral container of an absent image',
]);

/** The kubectl of the machine, or the one of the served version where `.ci/run` fetched it. */
const SERVED_KUBECTL = process.env.SERVED_KUBECTL ?? '';
const environment = existsSync(SERVED_KUBECTL)
  ? { ...process.env, PATH: [path.dirname(SERVED_KUBECTL), process.env.PATH].join(path.delimiter) }
  : process.env;

/** Why recordings of kubectl's texts are left out; undefined when they are not. */
function whyNoKubectlTexts(): string | undefined {
  const { stdout } = spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8', env: environment });
  const version = /v1\.\d+/.exec(stdout ?? '')?.[0];
  return version === 'v1.36' ? undefined : `${KUBECTL_TEXTS.size} need kubectl v1.36; here is ${version ?? 'none'}`;
}

const nameOf = ({ suite, scenario }: ScenarioReport) => `${suite} / ${scenario}`;

interface Replay {
  readonly directory: string;
  readonly namespace: string;
  readonly kubeconfig: string;
  readonly jobs: number;
}

/** More attempts at what failed. */
const RETRIES = 12;

/**
 * Recorded waits are those of a machine with nothing else to do, and a runtime writes lines of stdout and stderr in whatever order it reads the
 * two: what failed is tried again, almost alone.
 */
async function replayAgain(replayed: Replay, listed: readonly string[]): Promise<readonly ScenarioReport[]> {
  let reports: readonly ScenarioReport[] = await replay(replayed, listed);
  for (let attempt = 0; attempt < RETRIES && !process.env.UPDATE_ORACLE; attempt++) {
    const failed = reports.filter((report) => report.failures.length > 0 && listed.includes(nameOf(report))).map(nameOf);
    if (failed.length === 0) break;
    reports = [...reports.filter((report) => !failed.includes(nameOf(report))), ...(await replay({ ...replayed, jobs: 2 }, failed))];
  }
  return reports;
}

async function replay({ directory, namespace, kubeconfig, jobs }: Replay, listed: readonly string[]): Promise<ScenarioReport[]> {
  const report = path.join(directory, 'report.json');
  const names = listed.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const only = process.env.UPDATE_ORACLE ? [] : ['--only', `^(${names.join('|')})$`];
  const golden = readdirSync(path.join(here, 'golden')).map((name) => path.join(here, 'golden', name));
  const args = ['check', '--kubeconfig', kubeconfig, '--jobs', String(jobs), '--json', report, ...only, ...golden];
  const inside = [`--net=/run/netns/${namespace}`, process.execPath, path.join(here, 'node-oracle.mjs'), ...args];
  await once(spawn('nsenter', inside, { stdio: 'ignore', env: environment }), 'exit');
  return JSON.parse(await readFile(report, 'utf8')) as ScenarioReport[];
}

const reason = whyNoContainers();
const withoutTexts = reason === undefined ? whyNoKubectlTexts() : undefined;

test.skipIf(reason !== undefined)(
  `a real node makes of recorded pods what upstream's kubelet did${reason === undefined ? '' : ` (skipped: ${reason})`}${withoutTexts === undefined ? '' : ` (${withoutTexts})`}`,
  { timeout: TIMEOUT_MS },
  async () => {
    const passing: readonly string[] = existsSync(listFile) ? JSON.parse(await readFile(listFile, 'utf8')) : [];
    const listed = passing.filter((name) => withoutTexts === undefined || !KUBECTL_TEXTS.has(name));
    const directory = await mkdtemp(path.join(os.tmpdir(), 'sampan-node-oracle-'));
    try {
      const reports = await withNode(directory, (kubeconfig, namespace) =>
        replayAgain({ directory, namespace, kubeconfig, jobs: JOBS }, listed),
      );
      const passed = reports.filter(({ failures }) => failures.length === 0).map(nameOf);
      if (process.env.UPDATE_ORACLE) {
        const all = [...new Set([...passing, ...passed])].sort();
        await writeFile(listFile, `${JSON.stringify(all, null, 2)}\n`);
      }
      const isListed = new Set(listed);
      const broken = reports.filter((report) => report.failures.length > 0 && isListed.has(nameOf(report)));
      expect(broken.map((report) => ({ scenario: nameOf(report), failures: report.failures.flatMap(({ diffs }) => diffs) }))).toEqual([]);
      expect(listed.filter((name) => !reports.some((report) => nameOf(report) === name))).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);
