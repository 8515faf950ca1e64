import { expect, it } from 'vitest';
import { apiextensions } from '#api';
import { serveAdmission } from '../admission/admission-server.test-data.ts';

const GROUP = 'serving.example.com';

const definition = (names: { plural: string; kind: string; shortNames: readonly string[] }) => ({
  metadata: { name: `${names.plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names,
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});

it('a definition that wishes for names of others is served under those it had', async () => {
  const { client } = await serveAdmission();
  const definitions = client.of(apiextensions.CustomResourceDefinition);
  await definitions.create(definition({ plural: 'widgets', kind: 'Widget', shortNames: ['wd'] }) as never);
  await definitions.create(definition({ plural: 'gizmos', kind: 'Gizmo', shortNames: ['gz'] }) as never);
  const gizmos = { name: `gizmos.${GROUP}` };
  const refused = async () => (await definitions.get(gizmos)).status?.conditions?.find(({ type }) => type === 'NamesAccepted')?.reason;
  await expect.poll(refused).toBe('NoConflicts');
  await definitions.patch(gizmos, { spec: { names: { singular: 'widget', shortNames: ['wd'] } } });
  await expect.poll(refused).toBe('ShortNamesConflict');
  const served = await client.transport.request({ method: 'GET', path: `/apis/${GROUP}/v1` });
  const { resources } = served as { resources: readonly { name: string }[] };
  expect(resources.find(({ name }) => name === 'gizmos')).toMatchObject({ singularName: 'gizmo', shortNames: ['gz'] });
});
