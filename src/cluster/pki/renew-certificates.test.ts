import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { core } from '#api';
import { realClock, silentLogger, systemRandom, VirtualClock } from '#base';
import { Client, httpsTransport, loadConnection } from '#client';
import { parseYaml } from '#machinery';
import { openMemoryStore } from '#store';
import { mergeKubeconfig, renderKubeconfig } from '../config/kubeconfig-file.ts';
import { DataDirectory } from '../data/data-directory.ts';
import { startCluster } from '../start-cluster.ts';
import type { ClusterPki } from './pki.ts';
import { loadPki } from './pki-files.ts';
import { renewCertificates } from './renew-certificates.ts';

const DAY = 24 * 3_600_000;
const deps = { clock: realClock, random: systemRandom, logger: silentLogger };
const pkiOptions = { names: { ipAddresses: ['127.0.0.1'] }, random: systemRandom };

const expiry = (pem: string) => Date.parse(new X509Certificate(pem).validTo);

/** The expiry of the certificate that a new connection gets. */
function servedExpiry(port: number, ca: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca }, () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

async function clientBy(kubeconfig: string): Promise<Client> {
  const { connection } = await loadConnection({ path: kubeconfig, processEnv: {} });
  return new Client(httpsTransport(connection, deps));
}

const namespaces = async (client: Client) => (await client.of(core.Namespace).list()).items.length;

// TLS uses the real time, so the virtual time starts 300 days ago, with certificates that are still valid today.
it('certificates of a running cluster are renewed in time, and clients keep working', { timeout: 30_000 }, async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'sampan-renewal-'));
  const directory = new DataDirectory(home);
  await directory.create();
  const clock = new VirtualClock({ startMs: realClock.now() - 300 * DAY });
  const first = await loadPki(directory, { ...pkiOptions, now: clock.now() });
  await using store = openMemoryStore();
  await using cluster = startCluster({ listen: { host: '127.0.0.1', port: 0 }, pki: first }, { ...deps, store });
  await cluster.ready;
  const port = cluster.apiServer.port ?? 0;
  const write = async (pki: ClusterPki) => {
    const { certificate: clientCertificate, key: clientKey } = pki.clients.admin;
    const access = { clusterName: 'c', server: `https://127.0.0.1:${port}`, caCertificate: pki.authority.certificate, clientCertificate };
    writeFileSync(directory.kubeconfig, renderKubeconfig({ ...access, clientKey }));
  };
  await write(first);
  await using before = await clientBy(directory.kubeconfig);
  const count = await namespaces(before);
  expect(await servedExpiry(port, first.authority.certificate)).toBe(expiry(first.serving.certificate));

  const renewed: ClusterPki[] = [];
  let failures = 1;
  const use = async (pki: ClusterPki) => {
    // The first attempt fails, as on a full disk, and is repeated.
    if (failures-- > 0) throw new Error('not now');
    renewed.push(pki);
    cluster.useCertificates(pki);
    await write(pki);
  };
  const stopping = new AbortController();
  const renewing = renewCertificates({ current: first, directory, options: pkiOptions, use }, { ...deps, clock }, stopping.signal);
  await clock.advance(270 * DAY);
  expect(renewed).toEqual([]);
  for (let hours = 0; hours < 240 && renewed.length === 0; hours++) {
    await clock.advance(DAY / 24);
    // Files are written in real time.
    await realClock.sleep(20);
  }
  expect(renewed).toHaveLength(1);
  const now = renewed[0] as ClusterPki;

  expect(now.authority).toEqual(first.authority);
  for (const [pair, old] of [
    [now.serving, first.serving],
    [now.clients.admin, first.clients.admin],
    [now.clients.kubeletClient, first.clients.kubeletClient],
  ] as const)
    expect(expiry(pair.certificate) - expiry(old.certificate)).toBeGreaterThan(200 * DAY);
  expect(await servedExpiry(port, first.authority.certificate)).toBe(expiry(now.serving.certificate));
  await using after = await clientBy(directory.kubeconfig);
  // Existing clients, and those with the renewed certificate.
  expect([await namespaces(before), await namespaces(after)]).toEqual([count, count]);
  const { serviceAccountKey: _key, ...certificates } = now;
  expect(await loadPki(directory, { ...pkiOptions, now: clock.now() })).toMatchObject(certificates);

  stopping.abort();
  await renewing;
  rmSync(home, { recursive: true });
});

it('renewing certificates does not change the user’s current context', () => {
  const access = { clusterName: 'sampan', server: 'https://x', caCertificate: 'c', clientCertificate: 'a', clientKey: 'k' };
  const first = mergeKubeconfig('current-context: mine\n', access);
  expect(parseYaml(first).value).toMatchObject({ 'current-context': 'sampan' });
  const switched = first.replace('current-context: sampan', 'current-context: mine');
  const renewed = mergeKubeconfig(switched, { ...access, clientCertificate: 'b' }, 'renew');
  expect(parseYaml(renewed).value).toMatchObject({ 'current-context': 'mine' });
  expect(renewed).toContain(Buffer.from('b').toString('base64'));
});
