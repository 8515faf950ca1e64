import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import packet from 'dns-packet';
import { runProgram } from '#base';
import { startSampan, TOKEN, temporaryDirectory } from './server-process.ts';

const SECONDS = 3;
const CLOCK_TICKS = 100;
const questions = [{ type: 'A' as const, name: 'kubernetes.default.svc.cluster.local', class: 'IN' as const }];
const QUERY = packet.encode({ type: 'query', id: 7, flags: packet.RECURSION_DESIRED, questions }).toString('hex');

/** Replies per second of the server's CPU time, which depends little on other load on the machine. */
async function answersPerCpuSecond(pid: number, port: number): Promise<number> {
  const before = cpuSeconds(pid);
  const load = resolve(process.cwd(), 'test/bench/datagram-load.mjs');
  const { answers } = JSON.parse(await runProgram(process.execPath, [load, String(port), QUERY, String(SECONDS)])) as { answers: number };
  return answers / (cpuSeconds(pid) - before);
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
}

/** An echo server. */
export async function echoRate(): Promise<number> {
  const child = spawn(process.execPath, [resolve(process.cwd(), 'test/bench/datagram-echo.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { port: number };
  return await measured(child, port);
}

/** `sampan dns` as users start it, queried for a name in the cluster. */
export async function dnsRate(): Promise<number> {
  using directory = temporaryDirectory();
  await using cluster = await startSampan(directory.path);
  const kubeconfig = join(directory.path, 'dns.kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(cluster.port)));
  const port = await freePort();
  const program = [resolve(process.cwd(), 'dist/sampan.js'), 'dns', '--kubeconfig', kubeconfig];
  const where = [
    '--dns-bind-address=127.0.0.1',
    `--dns-port=${port}`,
    '--health-bind-address=',
    '--ready-bind-address=',
    '--metrics-bind-address=',
  ];
  const child = spawn(process.execPath, [...program, ...where], { stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const line of child.stderr) if (String(line).includes('is ready')) break;
  return await measured(child, port);
}

async function measured(child: ReturnType<typeof spawn>, port: number): Promise<number> {
  try {
    // Warm-up.
    await answersPerCpuSecond(child.pid!, port);
    return await answersPerCpuSecond(child.pid!, port);
  } finally {
    const closed = once(child, 'exit');
    child.kill('SIGKILL');
    await closed;
  }
}

function kubeconfigOf(port: number): object {
  const cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    clusters: [{ name: 'bench', cluster }],
    users: [{ name: 'bench', user: { token: TOKEN } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
