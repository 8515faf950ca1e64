import { expect, test } from 'vitest';
import { core } from '#api';
import { serveAdmission } from '../admission-server.test-data.ts';

test.each([
  ['a named object', { name: 'late' }, 'late'],
  ['an object without a name', {}, 'Unknown'],
])('%s is not created in a terminating namespace', async (_, metadata, name) => {
  const { client } = await serveAdmission();
  const namespaces = client.of(core.Namespace);
  await namespaces.create({ metadata: { name: 'going' }, spec: { finalizers: ['kubernetes'] } });
  await namespaces.delete({ name: 'going' });
  const created = client.of(core.ConfigMap).create({ metadata: { ...metadata, namespace: 'going' } } as never);
  await expect(created).rejects.toMatchObject({
    code: 403,
    message: `configmaps "${name}" is forbidden: unable to create new content in namespace going because it is being terminated`,
    details: { name, kind: 'configmaps', causes: [{ reason: 'NamespaceTerminating' }] },
  });
});
