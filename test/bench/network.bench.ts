import { spawnSync } from 'node:child_process';
import type { core, discovery } from '#api';
import { KernelNetwork, runProgram, silentLogger } from '#base';
import { computeServiceRules, NftablesApplier } from '#proxy';
import { debianAdd, hasDebianBridge, sampanAdd } from './cni-add.ts';
import { connectionLatency } from './connection-latency.ts';
import { dnsRate, echoRate } from './dns-rate.ts';
import type { Benchmark } from './harness.ts';
import { proxyMemory } from './proxy-memory.ts';

/** Needs root and network namespaces; skipped elsewhere. */
const isPossible = process.getuid?.() === 0 && spawnSync('nft', ['--version']).status === 0 && spawnSync('ip', ['-V']).status === 0;
const node = { name: 'n1' };
const settings = { podCidrs: ['10.244.0.0/16'], nodePortAddresses: [], masqueradeAll: false, masqueradeBit: 14 };

function service(i: number): core.Service {
  const clusterIP = `10.${96 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
  return { metadata: { name: `s${i}`, namespace: 'd' }, spec: { clusterIP, ports: [{ port: 80 }] } } as core.Service;
}

function slice(i: number, { first = 0, count }: { first?: number; count: number }): discovery.EndpointSlice {
  const endpoints = Array.from({ length: count }, (_, e) => ({ addresses: [`10.244.${(i * 7) & 255}.${1 + ((first + e) % 250)}`] }));
  return { metadata: { name: `s${i}` }, addressType: 'IPv4', ports: [{ port: 8080 }], endpoints } as unknown as discovery.EndpointSlice;
}

/** The number of services, and of endpoints of each. */
interface Shape {
  readonly services: number;
  readonly count: number;
}

function fill(applier: NftablesApplier, { services, count }: Shape): void {
  for (let i = 0; i < services; i++) applier.set(`d/s${i}`, computeServiceRules(service(i), [slice(i, { count })], node));
}

async function inNamespace<T>(work: (kernel: KernelNetwork, path: string) => Promise<T>): Promise<T> {
  const name = `sampan-bench-${process.pid}`;
  await runProgram('ip', ['netns', 'add', name]);
  try {
    return await work(new KernelNetwork(`/run/netns/${name}`), `/run/netns/${name}`);
  } finally {
    await runProgram('ip', ['netns', 'del', name]);
  }
}

/** Milliseconds until a change of one endpoint is in effect. */
function endpointChange(shape: Shape): () => Promise<number> {
  return () =>
    inNamespace(async (kernel) => {
      const applier = new NftablesApplier(settings, { kernel, logger: silentLogger });
      fill(applier, shape);
      await applier.sync();
      const changes = 10;
      const started = performance.now();
      for (let i = 0; i < changes; i++) {
        applier.set('d/s7', computeServiceRules(service(7), [slice(7, { first: i + 1, count: shape.count })], node));
        await applier.sync();
      }
      return (performance.now() - started) / changes;
    });
}

/**
 * Milliseconds from objects to all rules in the kernel. Upstream's kube-proxy took 1.0 s for 2,000 services of 5 endpoints, and 0.51 s for
 * a change.
 */
function fullSync(shape: Shape): () => Promise<number> {
  return () =>
    inNamespace(async (kernel) => {
      const applier = new NftablesApplier(settings, { kernel, logger: silentLogger });
      const started = performance.now();
      fill(applier, shape);
      await applier.sync();
      return performance.now() - started;
    });
}

/** Milliseconds to compute all rules as a script for the kernel. */
function computation(shape: Shape): () => Promise<number> {
  return async () => {
    const applier = new NftablesApplier(settings, { kernel: new KernelNetwork(), logger: silentLogger });
    const started = performance.now();
    fill(applier, shape);
    applier.describe();
    return performance.now() - started;
  };
}

export const benchmarks: Benchmark[] = [
  {
    kind: 'macro',
    name: 'network: compute the rules of services with 10 endpoints each',
    unit: 'ms',
    better: 'lower',
    rounds: 3,
    baseline: { name: '1,000 services', measure: computation({ services: 1_000, count: 10 }) },
    subject: { name: '10,000 services', measure: computation({ services: 10_000, count: 10 }) },
  },
  ...(isPossible
    ? ([
        {
          kind: 'macro',
          name: 'network: one endpoint changes, until nftables has it',
          unit: 'ms',
          better: 'lower',
          rounds: 3,
          baseline: { name: 'of 10 services', measure: endpointChange({ services: 10, count: 10 }) },
          subject: { name: 'of 10,000 services', measure: endpointChange({ services: 10_000, count: 10 }) },
        },
        {
          kind: 'macro',
          name: 'network: all rules of 2,000 services with 5 endpoints each, until nftables has them',
          unit: 'ms',
          better: 'lower',
          rounds: 3,
          baseline: { name: 'of 20 services', measure: fullSync({ services: 20, count: 5 }) },
          subject: { name: 'of 2,000 services', measure: fullSync({ services: 2_000, count: 5 }) },
        },
        {
          kind: 'macro',
          name: 'network: one endpoint of 2,000 services with 5 each changes',
          unit: 'ms',
          better: 'lower',
          rounds: 3,
          baseline: { name: 'of 20 services', measure: endpointChange({ services: 20, count: 5 }) },
          subject: { name: 'of 2,000 services', measure: endpointChange({ services: 2_000, count: 5 }) },
        },
        {
          kind: 'macro',
          name: "network: resident memory of sampan proxy with 2,000 services of 5 endpoints (upstream's: 131 MiB)",
          unit: 'MiB',
          better: 'lower',
          rounds: 1,
          baseline: {
            name: 'with 20 services',
            measure: () => inNamespace((...place) => proxyMemory({ services: 20, endpoints: 5 }, ...place)),
          },
          subject: {
            name: 'with 2,000 services',
            measure: () => inNamespace((...place) => proxyMemory({ services: 2_000, endpoints: 5 }, ...place)),
          },
        },
      ] satisfies Benchmark[])
    : []),
  ...(isPossible && hasDebianBridge
    ? ([
        {
          kind: 'macro',
          name: 'network: CNI ADD',
          unit: 'ms',
          better: 'lower',
          rounds: 3,
          baseline: { name: "Debian's bridge plugin", measure: debianAdd },
          subject: { name: 'sampan', measure: sampanAdd },
        },
      ] satisfies Benchmark[])
    : []),
  {
    kind: 'macro',
    name: 'network: DNS answers for each second of CPU time',
    unit: '/s',
    better: 'higher',
    rounds: 3,
    baseline: { name: 'datagrams sent back', measure: echoRate },
    subject: { name: 'sampan dns', measure: dnsRate },
  },
  ...connectionLatency(isPossible),
];
