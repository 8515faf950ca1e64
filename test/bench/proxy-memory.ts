import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type KernelNetwork, realClock } from '#base';
import { startSampan, stop, TOKEN, temporaryDirectory, usageOf } from './server-process.ts';

export interface ProxyLoad {
  readonly services: number;
  /** Per service. */
  readonly endpoints: number;
}

const PATIENCE_MS = 120_000;

/** Resident memory of `sampan proxy` with all nftables rules in place, in MiB. Server and proxy are alone in the network namespace. */
export async function proxyMemory({ services, endpoints }: ProxyLoad, kernel: KernelNetwork, namespace: string): Promise<number> {
  await kernel.ip([['link', 'set', 'lo', 'up']]);
  using directory = temporaryDirectory();
  await using server = await startSampan(directory.path, ['--store', 'memory'], { namespace });
  await kernel.run(process.execPath, [resolve('test/bench/proxy-objects.mjs'), `${server.port}`, TOKEN, `${services}`, `${endpoints}`]);
  const kubeconfig = join(directory.path, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(server.port)));
  const flags = ['--kubeconfig', kubeconfig, '--hostname-override', 'node-1', '--proxy-mode', 'nftables'];
  const ports = ['--healthz-bind-address', '127.0.0.1:0', '--metrics-bind-address', '127.0.0.1:0'];
  const program = [process.execPath, resolve('dist/sampan.js'), 'proxy', ...flags, ...ports];
  const proxy = spawn('nsenter', [`--net=${namespace}`, '--', ...program], { stdio: 'ignore' });
  try {
    await untilServed(services, kernel);
    return usageOf(proxy.pid as number).residentMiB;
  } finally {
    await stop(proxy);
  }
}

function kubeconfigOf(port: number): object {
  const cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
  return {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: TOKEN } }],
  };
}

async function untilServed(services: number, kernel: KernelNetwork): Promise<void> {
  const deadline = realClock.monotonic() + PATIENCE_MS;
  for (;;) {
    const text = await kernel.run('nft', ['list', 'map', 'ip', 'sampan-proxy', 'services']).catch(() => '');
    if (text.split(' : ').length > services) return;
    if (realClock.monotonic() > deadline) throw new Error(`nftables does not have the rules of ${services} services`);
    await realClock.sleep(500);
  }
}
