import { expect, it } from 'vitest';
import { core, discovery } from '#api';
import { createLogger, MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import type { Client } from '#client';
import { startClusterDns } from './cluster-dns.ts';
import type { MachineNetworkDeps } from './machine-network.ts';

const CONFIG = { serviceIp: '10.96.0.10', clusterDomain: 'cluster.local' };

function depsWith(administrator: Client): MachineNetworkDeps {
  const common = { clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() };
  const network = { clusterCidrs: [], dnsServiceIp: CONFIG.serviceIp, listenForPods: async () => {} };
  return { ...common, ...network, administrator, clientAs: () => administrator };
}

it('cluster DNS stops although pods never got a gateway', async () => {
  const dns = startClusterDns(CONFIG, new Promise(() => {}), depsWith({} as Client));
  await dns.ready;
  await dns[Symbol.asyncDispose]();
});

it('cluster DNS leaves a kube-dns service with a selector alone', async () => {
  const written: string[] = [];
  const services = {
    get: async () => ({ spec: { selector: { 'k8s-app': 'kube-dns' } } }),
  };
  const others = { create: async () => void written.push('something else') };
  const administrator = { of: (kind: unknown) => (kind === core.Service ? services : others) } as unknown as Client;
  const errors: string[] = [];
  const logger = createLogger({ clock: realClock, level: 'error', write: (line) => void errors.push(line) });
  await using dns = startClusterDns(CONFIG, Promise.resolve('127.0.0.1'), { ...depsWith(administrator), logger });
  await dns.ready;
  await realClock.sleep(20);
  expect(written).toEqual([]);
  expect(errors).toEqual([]);
});

it('a restart of cluster DNS writes nothing, since admission webhooks may be down', async () => {
  const existing = {
    spec: {},
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    ],
    endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true, serving: true, terminating: false } }],
  };
  const written: string[] = [];
  const write = async () => {
    written.push('a write');
    throw new Error('the webhook is down');
  };
  let onFirstRequest = () => {};
  const firstRequest = new Promise<void>((resolve) => {
    onFirstRequest = resolve;
  });
  const slices = { get: async () => existing, create: write, patch: write };
  // Its roles are created next.
  const of = (kind: unknown) => {
    if (kind === discovery.EndpointSlice || kind === core.Service) return slices;
    onFirstRequest();
    return { get: async () => existing, list: async () => ({ items: [] }), create: async () => existing, update: async () => existing };
  };
  await using dns = startClusterDns(CONFIG, Promise.resolve('127.0.0.1'), depsWith({ of } as unknown as Client));
  await dns.ready;
  await firstRequest;
  expect(written).toEqual([]);
});
