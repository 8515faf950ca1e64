import { describe, expect, it } from 'vitest';
import { certificatesV1beta1, core } from '#api';
import { realClock, systemRandom } from '#base';
import { renewedCertificates } from '#cluster';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`trust bundles of real containers are skipped: ${reason}`);

const POLL = { timeout: 40_000, interval: 100 };
const SIGNER = 'example.com/signer';
const GATES = new Map(['ClusterTrustBundle', 'ClusterTrustBundleProjection'].map((name) => [name, true]));
const enabled = { apiServer: { featureGates: GATES, runtimeConfig: new Map([['certificates.k8s.io/v1beta1', 'true']]) } };

function newAuthority(): string {
  return renewedCertificates({}, { now: realClock.now(), random: systemRandom, names: {} }).authority.certificate;
}

function createBundle(node: RealKubelet, name: string, trustBundle: string, signerName?: string) {
  const labels = { tier: name.replace(/.*:/, '') };
  const spec = { trustBundle, ...(signerName && { signerName }) };
  return node.client.of(certificatesV1beta1.ClusterTrustBundle).create({ metadata: { name, labels }, spec });
}

const withSources = (sources: readonly object[]) => ({
  volumes: [{ name: 'v', projected: { sources } }],
  containers: [{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'], volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
});
const body = (pem: string) => pem.replace(/\s/g, '');

describe.skipIf(reason !== undefined)('a pod on a real node', () => {
  it('has cluster trust bundles as files, by name and by signer, which follow them', async () => {
    await using node = await openRealKubelet({}, enabled);
    const [first, second, third] = [newAuthority(), newAuthority(), newAuthority()];
    await createBundle(node, 'plain', `# a comment\n${first}`);
    await createBundle(node, 'example.com:signer:a', second, SIGNER);
    await createBundle(node, 'example.com:signer:b', third, SIGNER);
    const sources = [
      { clusterTrustBundle: { name: 'plain', path: 'plain.pem' } },
      { clusterTrustBundle: { signerName: SIGNER, labelSelector: {}, path: 'all.pem' } },
      { clusterTrustBundle: { signerName: SIGNER, labelSelector: { matchLabels: { tier: 'b' } }, path: 'b.pem' } },
      { clusterTrustBundle: { name: 'none', optional: true, path: 'none.pem' } },
    ];
    await node.run('p', withSources(sources) as never);
    const file = async (name: string) => body(await node.exec('p', 'cat', `/v/${name}.pem`));
    expect(await file('plain')).toBe(body(first));
    expect(await file('all')).toBe([second, third].map(body).sort().join(''));
    expect([await file('b'), await file('none')]).toEqual([body(third), '']);
    const next = newAuthority();
    await node.client.of(certificatesV1beta1.ClusterTrustBundle).patch({ name: 'plain' }, { spec: { trustBundle: next } });
    await expect.poll(() => file('plain'), POLL).toBe(body(next));

    await node.create('waits', withSources([{ clusterTrustBundle: { name: 'late', path: 'late.pem' } }]) as never);
    const missing = 'clustertrustbundle.certificates.k8s.io "late" not found';
    await expect.poll(async () => (await node.events('waits')).some((event) => event.includes(missing)), POLL).toBe(true);
    await createBundle(node, 'late', first);
    await expect.poll(() => node.phase('waits'), POLL).toBe('Running');
  });

  it('says what is wrong with a source of a projected volume that names nothing', async () => {
    await using node = await openRealKubelet();
    // As upstream, the field is dropped if the feature is off, which leaves an empty source.
    await node.create('p', withSources([{ clusterTrustBundle: { name: 'plain', path: 'plain.pem' } }]) as never);
    const problem = 'a source of the projected volume names nothing';
    await expect.poll(async () => (await node.events('p')).some((event) => event.includes(problem)), POLL).toBe(true);
    expect((await node.client.of(core.Pod).get({ name: 'p', namespace: 'default' })).spec?.volumes?.[0]?.projected?.sources).toEqual([{}]);
  });
});
