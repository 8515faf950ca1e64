import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { certificatesV1beta1 } from '#api';
import {
  createAuthority,
  encodePem,
  loadAuthority,
  readCertificateRequest,
  realClock,
  signCertificate,
  silentLogger,
  systemRandom,
  VirtualClock,
} from '#base';
import { PodCertificates } from '../../../src/kubelet/volumes/pod-certificates.ts';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`pod certificates of real containers are skipped: ${reason}`);

const POLL = { timeout: 60_000, interval: 100 };
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const SIGNER = 'example.com/signer';
const enabled = {
  apiServer: {
    featureGates: new Map([['PodCertificateRequest', true]]),
    runtimeConfig: new Map([['certificates.k8s.io/v1beta1', 'true']]),
  },
};
type Request = certificatesV1beta1.PodCertificateRequest;

const withCertificate = (projection: object) => ({
  serviceAccountName: 'default',
  volumes: [{ name: 'v', projected: { sources: [{ podCertificate: { signerName: SIGNER, keyType: 'ECDSAP256', ...projection } }] } }],
  containers: [{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'], volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
});

const requestsOf = async (node: RealKubelet): Promise<readonly Request[]> =>
  (await node.client.of(certificatesV1beta1.PodCertificateRequest).list({ namespace: 'default' })).items;
const isOpen = ({ status }: Request) => (status?.conditions ?? []).length === 0;

async function openRequest(node: RealKubelet): Promise<Request> {
  await expect.poll(async () => (await requestsOf(node)).some(isOpen), POLL).toBe(true);
  return (await requestsOf(node)).find(isOpen)!;
}

function answer(node: RealKubelet, { metadata: { name, namespace } }: Request, status: object) {
  const requests = node.client.of(certificatesV1beta1.PodCertificateRequest);
  return requests.patch({ name, namespace }, { status }, { subresource: 'status' });
}

const condition = (type: string, message: string) => ({
  ...{ type, status: 'True', reason: 'Test', message },
  lastTransitionTime: new Date(realClock.now()).toISOString().replace(/\.\d+/, ''),
});
const timeText = (ms: number) => new Date(ms).toISOString().replace(/\.\d+/, '');

/** Issues a certificate with a refresh time after 20 minutes, valid for a day. */
async function issue(node: RealKubelet, request: Request): Promise<KeyObject> {
  const notBefore = Math.floor(realClock.now() / 1000) * 1000;
  const notAfter = notBefore + DAY_MS;
  const { publicKey } = readCertificateRequest(
    encodePem('CERTIFICATE REQUEST', Buffer.from(request.spec.stubPKCS10Request ?? '', 'base64')),
  );
  const validity = { notBefore, notAfter: notAfter + MINUTE_MS };
  const authority = loadAuthority(createAuthority({ subject: { commonName: 'ca' }, ...validity }, systemRandom));
  const chain = signCertificate({ subject: { commonName: '' }, publicKey, notBefore, notAfter }, authority, systemRandom);
  await answer(node, request, {
    conditions: [condition('Issued', '')],
    certificateChain: chain,
    ...{ notBefore: timeText(notBefore), notAfter: timeText(notAfter), beginRefreshAt: timeText(notBefore + 20 * MINUTE_MS) },
  });
  return publicKey;
}

describe.skipIf(reason !== undefined)('a pod on a real node with a pod certificate', () => {
  it('starts when the signer has issued it, and has its files', async () => {
    await using node = await openRealKubelet({}, enabled);
    const paths = { credentialBundlePath: 'bundle.pem', keyPath: 'key.pem', certificateChainPath: 'chain.pem' };
    await node.create('p', withCertificate(paths) as never);
    const request = await openRequest(node);
    expect(request.spec).toMatchObject({ signerName: SIGNER, podName: 'p', serviceAccountName: 'default', nodeName: node.nodeName });
    expect(await node.phase('p')).toBe('Pending');
    const key = await issue(node, request);
    await expect.poll(() => node.phase('p'), POLL).toBe('Running');
    expect(createPublicKey(await node.exec('p', 'cat', '/v/key.pem')).equals(key)).toBe(true);
    expect(new X509Certificate(await node.exec('p', 'cat', '/v/chain.pem')).publicKey.equals(key)).toBe(true);
    const bundle = await node.exec('p', 'cat', '/v/bundle.pem');
    expect(bundle).toMatch(/^-----BEGIN PRIVATE KEY-----[\s\S]*-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----/);
  });

  it('gets the next one in time, and is told when there is none', async () => {
    await using node = await openRealKubelet({}, enabled);
    const pod = await node.run('p', { serviceAccountName: 'default' } as never);
    const clock = new VirtualClock({ startMs: realClock.now() });
    const messages: string[] = [];
    const recorder = { normal: () => {}, warning: (_about: unknown, detail: string) => void messages.push(detail), record: () => {} };
    const { client, nodeName } = node;
    const deps = { client, nodeName, clock, recorder, random: systemRandom, logger: silentLogger };
    await using certificates = new PodCertificates(deps, () => {});
    const projection = { signerName: SIGNER, keyType: 'ED25519', credentialBundlePath: 'bundle.pem' };
    const bundleKey = async () => {
      const bundle = await certificates.get({ pod, volume: 'v', index: 0, projection }).catch((error: Error) => error.message);
      return typeof bundle === 'string' ? bundle : createPublicKey(bundle.key).export({ type: 'spki', format: 'pem' });
    };
    const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' });
    expect(await bundleKey()).toBe('credential bundle is not issued yet');
    const first = await issue(node, await openRequest(node));
    await expect.poll(bundleKey, POLL).toBe(pemOf(first));
    await clock.advance(26 * MINUTE_MS);
    expect(await bundleKey()).toBe(pemOf(first));
    const second = await issue(node, await openRequest(node));
    await expect.poll(bundleKey, POLL).toBe(pemOf(second));
    await clock.advance(DAY_MS);
    // The third request has no signer.
    await bundleKey();
    await openRequest(node);
    await expect
      .poll(async () => [await bundleKey(), ...messages], POLL)
      .toEqual([pemOf(second), 'CertificateOverdueForRefresh', 'CertificateExpired']);
  });

  it('says why it does not start when the signer refuses', async () => {
    await using node = await openRealKubelet({}, enabled);
    await node.create('p', withCertificate({ keyType: 'ED25519', keyPath: 'key.pem', certificateChainPath: 'chain.pem' }) as never);
    const request = await openRequest(node);
    await answer(node, request, { conditions: [condition('Denied', 'not for you')] });
    const messages = [
      `Denied: PodCertificateRequest default/${request.metadata.name} was denied, reason="Test", message="not for you"`,
      'FailedMount: MountVolume.SetUp failed for volume "v" : PodCertificateRequest was permanently denied: reason="Test" message="not for you"',
    ];
    await expect.poll(async () => (await node.events('p')).filter((event) => messages.includes(event)).length, POLL).toBe(2);
  });
});
