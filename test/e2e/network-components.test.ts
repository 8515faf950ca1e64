import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/store/contract/free-port.ts';
import { end, Workplace } from './sampan-process.ts';

const hasDig = spawnSync('dig', ['-v']).status === 0;
if (!hasDig) console.info('DNS is not tested with dig: it is not installed (Debian: bind9-dnsutils)');

/** Endpoints must not be on loopback. */
const machineAddress = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

const POLL = { timeout: 25_000, interval: 250 };
const MANIFEST = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { clusterIP: 10.96.7.7, ports: [{ name: http, port: 80 }] }
---
apiVersion: v1
kind: Service
metadata: { name: local }
spec: { type: NodePort, ports: [{ name: http, port: 80 }] }
`;
const SLICE = (address: string, port: number) => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: local, labels: { kubernetes.io/service-name: local } }
addressType: IPv4
ports: [{ name: http, port: ${port}, protocol: TCP }]
endpoints: [{ addresses: [${address}], conditions: { ready: true } }]
`;

/** As kubeadm writes it. */
const KUBEADM_CONFIG = (kubeconfig: string) => `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection: { acceptContentTypes: "", burst: 0, contentType: "", kubeconfig: ${kubeconfig}, qps: 0 }
clusterCIDR: 10.244.0.0/16
configSyncPeriod: 0s
conntrack: { maxPerCore: null, min: null, tcpBeLiberal: false, tcpCloseWaitTimeout: null, tcpEstablishedTimeout: null, udpStreamTimeout: 0s, udpTimeout: 0s }
detectLocal: { bridgeInterface: "", interfaceNamePrefix: "" }
detectLocalMode: ""
enableProfiling: false
healthzBindAddress: ""
hostnameOverride: ""
iptables: { localhostNodePorts: null, masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 0s }
ipvs: { excludeCIDRs: null, minSyncPeriod: 0s, scheduler: "", strictARP: false, syncPeriod: 0s, tcpFinTimeout: 0s, tcpTimeout: 0s, udpTimeout: 0s }
kind: KubeProxyConfiguration
logging: { flushFrequency: 0, options: { json: { infoBufferSize: "0" }, text: { infoBufferSize: "0" } }, verbosity: 0 }
metricsBindAddress: ""
mode: ""
nftables: { masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 0s }
nodePortAddresses: null
oomScoreAdj: null
portRange: ""
showHiddenMetricsForVersion: ""
winkernel: { enableDSR: false, forwardHealthCheckVip: false, networkName: "", rootHnsEndpointName: "", sourceVip: "" }
`;

describe('components of the network beside a cluster of others', () => {
  const at = new Workplace();
  let kubeconfig: string;
  let backend: Server;
  let port = 0;
  beforeAll(async () => {
    expect(await at.sampan('up', '-d', '--runtime', 'simulated')).toMatchObject({ code: 0 });
    kubeconfig = at.path('.kube/config');
    backend = createServer((socket) => socket.end('from the backend'));
    await new Promise<void>((resolve) => backend.listen(0, machineAddress ?? '127.0.0.1', resolve));
    await at.apply(MANIFEST);
    port = Number(await at.kubectl('get', 'service', 'local', '-o', 'jsonpath={.spec.ports[0].nodePort}'));
    await at.apply(SLICE(machineAddress ?? '', (backend.address() as { port: number }).port));
  });
  afterAll(async () => {
    await at.sampan('delete', '--yes');
    await new Promise((resolve) => backend.close(resolve));
    await at[Symbol.asyncDispose]();
  });

  const get = async (url: string) => {
    const answer = await fetch(url).catch(() => undefined);
    return answer && `${answer.status} ${(await answer.text()).split('\n')[0]}`;
  };

  test.runIf(hasDig)('sampan dns answers dig, tells its health, and is there again after a kill', async () => {
    const [dns, health, ready, metrics] = [await freePort(), await freePort(), await freePort(), await freePort()];
    const flags = [`--dns-port=${dns}`, `--health-bind-address=127.0.0.1:${health}`, `--ready-bind-address=127.0.0.1:${ready}`];
    const start = (name: string) =>
      at.startSampan(
        ...([name, 'dns', '--kubeconfig', kubeconfig, '--dns-bind-address=127.0.0.1', '--upstream=127.0.0.1:1', ...flags] as const),
        `--metrics-bind-address=127.0.0.1:${metrics}`,
      );
    const dig = async (...args: string[]) =>
      (await at.run('dig', ['@127.0.0.1', '-p', String(dns), '+short', '+tries=1', '+time=2', ...args])).stdout.trim();
    const first = start('dns-1');
    await expect.poll(() => get(`http://127.0.0.1:${ready}/ready`), POLL).toBe('200 OK');
    expect(await get(`http://127.0.0.1:${health}/health`)).toBe('200 OK');
    expect(await dig('web.default.svc.cluster.local')).toBe('10.96.7.7');
    expect(await dig('+tcp', 'SRV', '_http._tcp.web.default.svc.cluster.local')).toBe('0 100 80 web.default.svc.cluster.local.');
    expect(await dig('-x', '10.96.7.7')).toBe('web.default.svc.cluster.local.');
    expect((await fetch(`http://127.0.0.1:${metrics}/metrics`).then((answer) => answer.text())).match(/^coredns_\w+/gm)).toContain(
      'coredns_dns_requests_total',
    );
    await end(first, 'SIGKILL');
    start('dns-2');
    await expect.poll(() => dig('web.default.svc.cluster.local'), POLL).toBe('10.96.7.7');
  });

  const connect = async (to: number) => {
    const { stdout } = await at.run(process.execPath, [
      '-e',
      `require('net').connect(${to}, '127.0.0.1').on('error', () => {}).pipe(process.stdout)`,
    ]);
    return stdout;
  };

  test.runIf(machineAddress)(
    'sampan proxy takes the configuration of kubeadm, serves without privileges, and is there again after a kill',
    async () => {
      const [health, metrics] = [await freePort(), await freePort()];
      writeFileSync(at.path('proxy.yaml'), KUBEADM_CONFIG(kubeconfig));
      const start = (name: string) =>
        at.startSampan(
          ...([name, 'proxy', '--config', at.path('proxy.yaml'), '--proxy-mode=userspace', '--hostname-override=other'] as const),
          `--healthz-bind-address=127.0.0.1:${health}`,
          `--metrics-bind-address=127.0.0.1:${metrics}`,
        );
      const first = start('proxy-1');
      await expect.poll(() => connect(port), POLL).toBe('from the backend');
      expect(await get(`http://127.0.0.1:${health}/healthz`)).toMatch(/^200 .*"nodeEligible":true/);
      expect(await get(`http://127.0.0.1:${metrics}/proxyMode`)).toBe('200 userspace');
      await end(first, 'SIGKILL');
      start('proxy-2');
      await expect.poll(() => connect(port), POLL).toBe('from the backend');
    },
  );

  test('sampan proxy rules prints the rules of a simulated node', async () => {
    const node = await at.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}');
    const { code, stdout } = await at.sampan('proxy', 'rules', '--kubeconfig', kubeconfig, '--node', node);
    expect(code).toBe(0);
    expect(stdout).toMatch(/10\.96\.7\.7 \. tcp \. 80/);
    expect(await at.sampan('proxy', 'rules', '--kubeconfig', kubeconfig, '--node', 'none')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nodes "none" not found'),
    });
  });

  test('sampan proxy writes its configuration as flags and file have it, and says what of it has no effect', async () => {
    const [from, to] = [at.path('given.yaml'), at.path('written.yaml')];
    writeFileSync(from, 'kind: KubeProxyConfiguration\nnftables: { masqueradeBit: 3 }\n');
    const flags = ['--cluster-cidr=10.1.0.0/16', '--masquerade-all', '--ipvs-scheduler=rr', `--write-config-to=${to}`];
    const { code, stderr } = await at.sampan('proxy', '--config', from, ...flags);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('--ipvs-scheduler has no effect') });
    expect(JSON.parse(readFileSync(to, 'utf8'))).toEqual({
      ...{ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration', clusterCIDR: '10.1.0.0/16' },
      ...{ nftables: { masqueradeBit: 3, masqueradeAll: true }, iptables: { masqueradeAll: true } },
    });
  });

  test.each([
    [['dns', '--upstream=nowhere'], "'nowhere' is neither ADDRESS nor ADDRESS:PORT"],
    [['dns', '--dns-bind-address=x'], "'x' is no address"],
    [['dns', '--dns-port=70000'], "'70000' is no port"],
    [['proxy', '--proxy-mode=ipvs'], "'ipvs' is none of"],
    [['proxy', '--cluster-cidr=10.0.0.0/99'], 'is not a range of addresses'],
    [['proxy', '--nodeport-addresses=everywhere'], 'neither a range of addresses nor primary'],
    [['proxy', '--healthz-bind-address=here'], 'is no address and port to listen on'],
  ])('%s is refused with the reason', async (args, reason) => {
    const { code, stderr } = await at.sampan(...args, '--kubeconfig', kubeconfig);
    expect(code).not.toBe(0);
    expect(stderr).toContain(reason);
  });
});
