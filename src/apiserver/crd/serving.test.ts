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

it('a definition with conflicting new names keeps its accepted ones', async () => {
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

it('discovery lists custom resources in definition order, and without create once the definition terminates', async () => {
  const { client } = await serveAdmission();
  const definitions = client.of(apiextensions.CustomResourceDefinition);
  const schema = { openAPIV3Schema: { type: 'object' } };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const versions = [
    { name: 'v1', served: true, storage: true, schema },
    { name: 'v2', served: true, storage: false, schema, subresources: { status: {}, scale } },
  ];
  const { metadata, spec } = definition({ plural: 'widgets', kind: 'Widget', shortNames: [] });
  await definitions.create({ metadata: { ...metadata, finalizers: ['example.com/hold'] }, spec: { ...spec, versions } } as never);
  type Entry = { name: string; verbs: readonly string[]; storageVersionHash?: string };
  const entries = async (version: string) => {
    const list = await client.transport.request({ method: 'GET', path: `/apis/${GROUP}/${version}` }).catch(() => ({ resources: [] }));
    return (list as { resources: readonly Entry[] }).resources;
  };
  await expect.poll(() => entries('v2')).toHaveLength(3);
  const [main, ...subresources] = await entries('v2');
  expect(subresources.map(({ name }) => name)).toEqual(['widgets/status', 'widgets/scale']);
  expect(main?.verbs).toEqual(['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']);
  expect(main?.storageVersionHash).toBe((await entries('v1'))[0]?.storageVersionHash);
  await definitions.delete({ name: metadata.name });
  await expect.poll(async () => (await entries('v2'))[0]?.verbs).toEqual(['delete', 'deletecollection', 'get', 'list', 'watch']);
});

it('discovery in one document names the kind of every subresource', async () => {
  const { client } = await serveAdmission();
  const { metadata, spec } = definition({ plural: 'widgets', kind: 'Widget', shortNames: [] });
  const versions = spec.versions.map((version) => ({ ...version, subresources: { status: {} } }));
  await client.of(apiextensions.CustomResourceDefinition).create({ metadata, spec: { ...spec, versions } } as never);
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const names = async () => {
    const list = await client.transport.request({ method: 'GET', path: '/apis', accept });
    return (list as { items: { metadata: { name: string }; versions: { resources: { subresources?: object[] }[] }[] }[] }).items.find(
      (item) => item.metadata.name === GROUP,
    )?.versions[0]?.resources[0]?.subresources;
  };
  const responseKind = { group: GROUP, version: 'v1', kind: 'Widget' };
  await expect.poll(names).toEqual([{ subresource: 'status', responseKind, verbs: ['get', 'patch', 'update'] }]);
});

it('a deprecated version warns of the newer version to use', async () => {
  const { client } = await serveAdmission();
  const definitions = client.of(apiextensions.CustomResourceDefinition);
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [
    { name: 'v1beta1', served: true, storage: false, deprecated: true, schema },
    { name: 'v1', served: true, storage: true, schema },
  ];
  const { metadata, spec } = definition({ plural: 'widgets', kind: 'Widget', shortNames: [] });
  await definitions.create({ metadata, spec: { ...spec, versions } } as never);
  const warnings = async () => {
    const received: string[] = [];
    const path = `/apis/${GROUP}/v1beta1/widgets`;
    await client.transport.request({ method: 'GET', path, onWarning: (text: string) => void received.push(text) });
    return received;
  };
  await expect.poll(() => warnings().catch(() => [])).toEqual([`${GROUP}/v1beta1 Widget is deprecated; use ${GROUP}/v1 Widget`]);
});
