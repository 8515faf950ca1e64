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
