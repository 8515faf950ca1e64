import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseTokenFile } from '#apiserver';
import { type Clock, realClock, silentLogger, systemRandom } from '#base';
import { createPki, startCluster } from '#cluster';
import { openMemoryStore } from '#store';

// Replays recorded conversations with a real server (README.md beside this file). The scenarios that pass are listed in passing.json,
// and that list only grows:
//   UPDATE_ORACLE=1 npx vitest run test/oracle
const oracle = import.meta.dirname;
const listFile = path.join(import.meta.dirname, 'passing.json');
const suites = [
  'discovery',
  'kinds',
  'validation',
  'lists',
  'patch',
  'apply',
  'crd',
  'admission',
  'auth',
  'controllers',
  'scheduler',
] as const;

interface ScenarioReport {
  readonly suite: string;
  readonly scenario: string;
  readonly failed: number;
  readonly failures: readonly { request: string; diffs: readonly string[] }[];
}

type PassingSteps = Record<string, string[]>;

async function passing(): Promise<PassingSteps> {
  return existsSync(listFile) ? (JSON.parse(await readFile(listFile, 'utf8')) as PassingSteps) : {};
}

// Tables print ages in days, so the server's clock is set to the day of the recordings.
const ago = realClock.now() - Date.UTC(2026, 10, 15, 12);
const clock: Clock = { ...realClock, now: () => realClock.now() - ago };

/** Set up as the recorded server was: tokens, no nodes. */
async function withServer<T>(use: (url: string) => Promise<T>): Promise<T> {
  const pki = await createPki({ names: { ipAddresses: ['127.0.0.1'] }, now: clock.now(), random: systemRandom });
  const staticTokens = parseTokenFile('admintoken,admin,admin-uid,"system:masters"\nalicetoken,alice,alice-uid,"devs"\n');
  await using store = openMemoryStore({ clock });
  await using cluster = startCluster(
    {
      listen: { host: '127.0.0.1', port: 0 },
      pki,
      apiServer: { staticTokens, advertiseAddress: '127.0.0.1' },
    },
    { store, clock, random: systemRandom, logger: silentLogger },
  );
  await cluster.ready;
  return await use(`https://127.0.0.1:${cluster.apiServer.port}`);
}

/** Only listed scenarios are replayed, unless the list is updated: a failing scenario may wait for a long time. */
function selection(suite: string, listed: ReadonlySet<string>): readonly string[] {
  if (process.env.UPDATE_ORACLE) return [];
  const names = [...listed].map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return ['--only', `^${suite} / (${names.join('|')})$`];
}

async function run(suite: string, server: string, only: readonly string[]): Promise<readonly ScenarioReport[]> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'sampan-oracle-'));
  const report = path.join(directory, 'report.json');
  const golden = path.join(oracle, 'golden', `${suite}.json`);
  const args = [path.join(oracle, 'oracle.mjs'), 'check', '--server', server, '--token', 'admintoken', '--json', report, ...only, golden];
  try {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    await new Promise((resolve) => child.once('close', resolve));
    if (!existsSync(report)) throw new Error(`the oracle wrote no report: ${complaint}`);
    return JSON.parse(await readFile(report, 'utf8')) as ScenarioReport[];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function explain({ scenario, failures }: ScenarioReport): string {
  return `${scenario}: ${failures[0]?.request}\n    ${failures[0]?.diffs.slice(0, 3).join('\n    ')}`;
}

describe.concurrent('recorded conversations with a real server', () => {
  for (const suite of suites) {
    test(`${suite}: every listed scenario passes`, { timeout: 600_000 }, async () => {
      const listed = new Set((await passing())[suite] ?? []);
      const reports = await withServer((server) => run(suite, server, selection(suite, listed)));
      if (process.env.UPDATE_ORACLE) await remember(suite, reports);
      if (!process.env.UPDATE_ORACLE) expect(new Set(reports.map(({ scenario }) => scenario)).size).toBe(listed.size);
      const broken = reports.filter(({ scenario, failed }) => failed > 0 && listed.has(scenario));
      expect(broken.map(explain)).toEqual([]);
    });
  }
});

async function remember(suite: string, reports: readonly ScenarioReport[]): Promise<void> {
  const list = await passing();
  const names = new Set([...(list[suite] ?? []), ...reports.filter(({ failed }) => failed === 0).map(({ scenario }) => scenario)]);
  list[suite] = [...names].sort();
  await writeFile(listFile, `${JSON.stringify(list, undefined, 1)}\n`);
}
