import { expect, it } from 'vitest';
import { core } from '#api';
import { configMap, serveAdmission } from '../admission/admission-server.test-data.ts';

it('events are deleted at once, whatever the propagation policy', async () => {
  const { client } = await serveAdmission();
  const events = client.of(core.Event);
  await events.create({ metadata: { name: 'e', namespace: 'default' }, involvedObject: { namespace: 'default' } } as never);
  await events.delete({ name: 'e', namespace: 'default' }, { propagationPolicy: 'Foreground' });
  await expect(events.get({ name: 'e', namespace: 'default' })).rejects.toThrow('not found');
});

it('a propagation finalizer that exists moves to the end of the list', async () => {
  const { client } = await serveAdmission();
  const maps = client.of(core.ConfigMap);
  const map = configMap('a');
  await maps.create({ ...map, metadata: { ...map.metadata, finalizers: ['orphan', 'example.com/hold'] } });
  await maps.delete({ name: 'a', namespace: 'default' });
  expect((await maps.get({ name: 'a', namespace: 'default' })).metadata.finalizers).toEqual(['example.com/hold', 'orphan']);
});

const HAS_UID = 'the UID in the precondition \\(other\\) does not match the UID in record \\(.+\\)';

it.each([
  [
    '/api/v1/namespaces/default',
    /^Operation cannot be fulfilled on namespaces "default": Precondition failed: UID in precondition: other, /,
  ],
  ['/api/v1/namespaces/default/configmaps/a', new RegExp(`^Operation cannot be fulfilled on ConfigMap "a": ${HAS_UID}`)],
  ['/apis/events.k8s.io/v1/namespaces/default/events/a', new RegExp(`^Operation cannot be fulfilled on Event "a": ${HAS_UID}`)],
])('a deletion of %s with another uid is a conflict in the words of upstream', async (path, message) => {
  const { client } = await serveAdmission();
  await client.of(core.ConfigMap).create(configMap('a'));
  await client.of(core.Event).create({ metadata: { name: 'a', namespace: 'default' }, involvedObject: { namespace: 'default' } } as never);
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'other' } };
  await expect(client.transport.request({ method: 'DELETE', path, body })).rejects.toThrow(message);
});
