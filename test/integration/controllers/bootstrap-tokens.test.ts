import { expect, test } from 'vitest';
import { core } from '#api';
import { startCluster } from '#testing';

const base64 = (text: string) => Buffer.from(text).toString('base64');

function tokenSecret(id: string, expiration: string): core.Secret {
  const data = { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true', expiration };
  return {
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  };
}

test('cluster-info is signed with bootstrap tokens, and an expired token is removed with its signature', async () => {
  await using cluster = await startCluster({ nodes: 0, clock: 'virtual', controllers: ['*', 'bootstrapsigner', 'tokencleaner'] });
  const secrets = cluster.client.of(core.Secret);
  const maps = cluster.client.of(core.ConfigMap);
  const expiration = new Date(Math.floor(cluster.clock.now() / 1000) * 1000 + 3_600_000).toISOString().replace('.000Z', 'Z');
  await maps.create({ metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { kubeconfig: 'apiVersion: v1' } });
  await secrets.create(tokenSecret('abcdef', expiration));
  const keys = async () => Object.keys((await maps.get({ namespace: 'kube-public', name: 'cluster-info' })).data ?? {});
  await cluster.waitFor(async () => (await keys()).includes('jws-kubeconfig-abcdef'), { what: 'a signature' });
  await cluster.clock.advance('59m');
  expect((await secrets.list({ namespace: 'kube-system' })).items.map(({ metadata }) => metadata.name)).toContain('bootstrap-token-abcdef');
  await cluster.waitFor(async () => (await keys()).join() === 'kubeconfig', { within: '5m', what: 'the end of the signature' });
  expect((await secrets.list({ namespace: 'kube-system' })).items.map(({ metadata }) => metadata.name)).not.toContain(
    'bootstrap-token-abcdef',
  );
});
