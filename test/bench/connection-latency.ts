import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { core, discovery } from '#api';
import { realClock, runProgram, silentLogger, systemRandom } from '#base';
import { type ProxyMode, readProxyConfiguration, startProxy } from '#proxy';
import { startCluster } from '#testing';
import { ServiceLab } from '../integration/network/service-lab.ts';
import { type Benchmark, SharedRuns } from './harness.ts';

const CONNECTIONS = 2_000;
const PROGRAM = path.resolve('test/bench/connection-latency.mjs');

/** Microseconds until the first byte of each connection, sorted. */
interface Latencies {
  readonly direct: readonly number[];
  readonly service: readonly number[];
}

interface Place {
  readonly host: string;
  readonly port: number;
}

/** From one pod to another on the same machine. */
async function throughRules(mode: ProxyMode): Promise<Latencies> {
  await using lab = await ServiceLab.create(mode);
  const [host = ''] = await lab.service('web');
  await lab.endpoints('web', lab.of(0));
  await lab.run();
  const args = measureArguments({ host: lab.pods[0]!.addresses[0]!, port: 8080 }, { host, port: 80 });
  return JSON.parse(await lab.client.pod.kernel.run(process.execPath, args)) as Latencies;
}

/** The proxy forwards connections to a node port itself. Endpoints must not be on loopback. */
async function throughForwarder(): Promise<Latencies> {
  const host = machineAddress()!;
  const server = spawn(process.execPath, [PROGRAM, 'serve', host], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    const port = Number(line.toString());
    await using cluster = await startCluster({ nodes: 0, controllers: [] });
    const { spec } = await cluster.client.of(core.Service).create({
      metadata: { name: 'web', namespace: 'default' },
      spec: { type: 'NodePort', ports: [{ port: 80 }] },
    } as core.Service);
    await cluster.client.of(discovery.EndpointSlice).create({
      metadata: { name: 'web', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [{ name: '', port, protocol: 'TCP' }],
      endpoints: [{ addresses: [host] }],
    } as discovery.EndpointSlice);
    const addresses = { healthzBindAddress: '127.0.0.1:0', metricsBindAddress: '127.0.0.1:0' };
    const config = { ...readProxyConfiguration({ mode: 'userspace', ...addresses }), nodeName: 'n1' };
    await using proxy = startProxy(config, { client: cluster.client, clock: realClock, random: systemRandom, logger: silentLogger });
    await proxy.ready;
    const args = measureArguments({ host, port }, { host, port: spec!.ports![0]!.nodePort! });
    return JSON.parse(await runProgram(process.execPath, args)) as Latencies;
  } finally {
    const closed = once(server, 'close');
    server.kill();
    await closed;
  }
}

function measureArguments(direct: Place, service: Place): string[] {
  return [PROGRAM, 'measure', String(CONNECTIONS), ...[direct, service].flatMap(({ host, port }) => [host, String(port)])];
}

function machineAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}

const at = (times: readonly number[], share: number) => times[Math.floor(share * times.length)]!;

/** Alternates between direct connections and those through the service, so that load on the machine affects both. */
function latencyOf(mode: ProxyMode, make: () => Promise<Latencies>): readonly Benchmark[] {
  const runs = new SharedRuns(make);
  return [
    { name: 'median', share: 0.5 },
    { name: 'p99', share: 0.99 },
  ].map(({ name, share }) => ({
    kind: 'macro',
    name: `network: ${name} of ${CONNECTIONS.toLocaleString('en')} connections, until the first byte, by ${mode}`,
    unit: 'µs',
    better: 'lower',
    rounds: 3,
    baseline: runs.figure('direct', ({ direct }) => at(direct, share)),
    subject: runs.figure('through a service', ({ service }) => at(service, share)),
  }));
}

export function connectionLatency(hasNamespaces: boolean): readonly Benchmark[] {
  return [
    ...(hasNamespaces ? (['nftables', 'iptables'] as const).flatMap((mode) => latencyOf(mode, () => throughRules(mode))) : []),
    ...(machineAddress() === undefined ? [] : latencyOf('userspace', throughForwarder)),
  ];
}
