import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { serveAdmission } from '../admission-server.test-data.ts';

const MIRROR = { 'kubernetes.io/config.mirror': 'x' };

const pod = (spec: object, annotations?: Record<string, string>) =>
  ({ metadata: { name: 'p', namespace: 'default', ...(annotations && { annotations }) }, spec }) as unknown as core.Pod;

/** A client of a cluster with a service account that may use one secret only. */
async function serveAccount() {
  const { client } = await serveAdmission(() => false);
  await client.of(core.ServiceAccount).create({
    metadata: { name: 'strict', namespace: 'default', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    secrets: [{ name: 'own' }],
  });
  return client.of(core.Pod);
}

// These have no containers, which validation would reject: admission runs before validation.
describe('before anyone looks at the rest of a pod', () => {
  const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] });

  it.each([
    ['service accounts', { serviceAccountName: 'strict' }, 'a mirror pod may not reference service accounts'],
    ['secrets', volume({ secret: { secretName: 's' } }), 'a mirror pod may not reference secrets'],
    [
      'tokens',
      volume({ projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }),
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('mirror pods with %s are forbidden', async (_, spec, message) => {
    const pods = await serveAccount();
    await expect(pods.create(pod(spec, MIRROR))).rejects.toThrow(`pods "p" is forbidden: ${message}`);
  });

  it('secrets that the account may not mount are forbidden', async () => {
    const pods = await serveAccount();
    const spec = { serviceAccountName: 'strict', ...volume({ secret: { secretName: 'other' } }) };
    await expect(pods.create(pod(spec))).rejects.toThrow(/^pods "p" is forbidden: .*"other".*strict does not reference that secret/);
  });
});

it('mirror pods get no service account and no token volume', async () => {
  const pods = await serveAccount();
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: true };
  const mirror = pod({ nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }, MIRROR);
  const created = await pods.create({ ...mirror, metadata: { ...mirror.metadata, ownerReferences: [owner] } });
  expect(created.spec?.serviceAccountName).toBeUndefined();
  expect(created.spec?.volumes).toBeUndefined();
});
