import { expect, it, onTestFinished } from 'vitest';
import { apiextensions, apiregistration } from '#api';
import { silentLogger } from '#base';
import { serveAdmission } from '../admission/admission-server.test-data.ts';
import { ApiServiceRegistration } from './api-service-registration.ts';

const GROUP = 'registration.example.com';
const NAME = `widgets.${GROUP}`;

async function registering() {
  const { client, server } = await serveAdmission();
  const registration = new ApiServiceRegistration({ client, table: server.table, logger: silentLogger });
  onTestFinished(() => registration.stop());
  await registration.start();
  const services = client.of(apiregistration.APIService);
  const names = async () => (await services.list()).items.map(({ metadata }) => metadata.name);
  return { definitions: client.of(apiextensions.CustomResourceDefinition), services, names };
}

const versions = (...served: readonly string[]) =>
  ['v1', 'v2'].map((name) => ({
    name,
    served: served.includes(name),
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object' } },
  }));

const definition = {
  metadata: { name: NAME },
  spec: { group: GROUP, scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' }, versions: versions('v1') },
};

it('an APIService exists for each served version of a custom resource, as long as it is served', async () => {
  const { definitions, services, names } = await registering();
  await definitions.create(definition as never);
  await expect.poll(names).toEqual([`v1.${GROUP}`]);
  const { metadata, spec, status } = await services.get({ name: `v1.${GROUP}` });
  expect(metadata.labels).toEqual({ 'kube-aggregator.kubernetes.io/automanaged': 'true' });
  expect(spec).toEqual({ group: GROUP, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 });
  expect(status?.conditions?.[0]).toMatchObject({ type: 'Available', status: 'True', reason: 'Local' });
  await definitions.patch({ name: NAME }, { spec: { versions: versions('v1', 'v2') } });
  await expect.poll(names).toEqual([`v1.${GROUP}`, `v2.${GROUP}`]);
  await definitions.patch({ name: NAME }, { spec: { versions: versions('v2') } });
  await expect.poll(names).toEqual([`v2.${GROUP}`]);
  await definitions.delete({ name: NAME });
  await expect.poll(names).toEqual([]);
});

it('an APIService that was changed or deleted is restored', async () => {
  const { definitions, services, names } = await registering();
  await definitions.create(definition as never);
  await expect.poll(names).toEqual([`v1.${GROUP}`]);
  const name = `v1.${GROUP}`;
  await services.patch({ name }, { spec: { versionPriority: 7 } });
  await expect.poll(async () => (await services.get({ name })).spec?.versionPriority).toBe(100);
  const { metadata } = await services.get({ name });
  await services.delete({ name });
  const uid = () =>
    services.get({ name }).then(
      (service) => service.metadata.uid,
      () => metadata.uid,
    );
  await expect.poll(uid).not.toBe(metadata.uid);
});

it('APIServices of others are not changed', async () => {
  const { definitions, services } = await registering();
  const name = `v1.${GROUP}`;
  await services.create({
    metadata: { name },
    spec: { group: GROUP, version: 'v1', groupPriorityMinimum: 5, versionPriority: 6 },
  } as never);
  await definitions.create(definition as never);
  await expect.poll(async () => (await definitions.get({ name: NAME })).status?.conditions?.length).toBe(2);
  expect((await services.get({ name })).spec).toMatchObject({ versionPriority: 6 });
});
