import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { isStatusReason } from '#machinery';
import { startControlPlane } from '../control-plane.ts';

const ONLY = {
  controllers: ['namespace-controller', 'serviceaccount-controller', 'root-ca-certificate-publisher-controller'],
  options: { rootCa: 'THE CA' },
};

describe('namespaces', () => {
  it('have a service account and the root certificate, which come back when they are deleted or changed', async () => {
    await using plane = await startControlPlane(ONLY);
    const { client, clock } = plane;
    await client.of(core.Namespace).create({ metadata: { name: 'n' } });
    await clock.advance(1000);
    const account = await client.of(core.ServiceAccount).get({ name: 'default', namespace: 'n' });
    await client.of(core.ServiceAccount).delete(account.metadata);
    await client.of(core.ConfigMap).patch({ name: 'kube-root-ca.crt', namespace: 'n' }, { data: { 'ca.crt': 'mine', more: 'x' } });
    await clock.advance(1000);
    expect((await client.of(core.ServiceAccount).get(account.metadata)).metadata.uid).not.toBe(account.metadata.uid);
    expect((await client.of(core.ConfigMap).get({ name: 'kube-root-ca.crt', namespace: 'n' })).data).toEqual({ 'ca.crt': 'THE CA' });
  });

  it('go with all that is in them, after the time in which every server has learnt of it', async () => {
    await using plane = await startControlPlane(ONLY);
    const { client, clock } = plane;
    const namespaces = client.of(core.Namespace);
    await namespaces.create({ metadata: { name: 'n' } });
    await clock.advance(1000);
    await client.of(core.Secret).create({ metadata: { name: 's', namespace: 'n' } });
    expect((await namespaces.delete({ name: 'n' })).status?.phase).toBe('Terminating');
    await clock.advance(4000);
    expect((await client.of(core.Secret).list({ namespace: 'n' })).items).toHaveLength(1);
    await clock.advance(2000);
    await expect(namespaces.get({ name: 'n' })).rejects.toSatisfy((error) => isStatusReason(error, 'NotFound'));
    expect((await client.of(core.Secret).list({ namespace: 'n' })).items).toEqual([]);
    expect((await client.of(core.ServiceAccount).list({ namespace: 'n' })).items).toEqual([]);
  });

  it('wait for finalizers, say so, and go when those are removed', async () => {
    await using plane = await startControlPlane(ONLY);
    const { client, clock } = plane;
    await client.of(core.Namespace).create({ metadata: { name: 'n' } });
    await client.of(core.Secret).create({ metadata: { name: 's', namespace: 'n', finalizers: ['example.com/hold'] } });
    await client.of(core.Namespace).delete({ name: 'n' });
    await clock.advance(10_000);
    const { status } = await client.of(core.Namespace).get({ name: 'n' });
    expect(status?.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining')).toMatchObject({
      status: 'True',
      message: 'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    });
    await client.of(core.Secret).patch({ name: 's', namespace: 'n' }, { metadata: { finalizers: null } });
    await clock.advance(60_000);
    await expect(client.of(core.Namespace).get({ name: 'n' })).rejects.toSatisfy((error) => isStatusReason(error, 'NotFound'));
  });

  it('leave nothing running when the manager stops', async () => {
    const plane = await startControlPlane({ options: ONLY.options });
    await plane.clock.advance(60_000);
    await plane[Symbol.asyncDispose]();
    expect(plane.clock.pendingTimers).toBe(0);
  });
});
