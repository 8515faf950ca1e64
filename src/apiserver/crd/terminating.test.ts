import { expect, it } from 'vitest';
import { apiextensions } from '#api';
import { serveAdmission } from '../admission/admission-server.test-data.ts';

const GROUP = 'terminating.example.com';
const WIDGETS = { group: GROUP, version: 'v1', resource: 'widgets', namespaced: true };

async function served(finalizers: readonly string[] = []) {
  const { client, clock } = await serveAdmission();
  const definitions = client.of(apiextensions.CustomResourceDefinition);
  await definitions.create({
    metadata: { name: `widgets.${GROUP}`, finalizers },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  } as never);
  const widgets = client.resource(WIDGETS);
  await expect.poll(() => widgets.list().catch(() => undefined)).toBeDefined();
  return { definitions, widgets, transport: client.transport, clock };
}

const widget = (name: string, finalizers: readonly string[] = []) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { name, namespace: 'default', finalizers },
});

it('a terminating definition rejects new objects, and reports what blocks its deletion', async () => {
  const { definitions, widgets } = await served();
  await widgets.create(widget('held', ['example.com/hold']) as never);
  await definitions.delete({ name: `widgets.${GROUP}` });
  const reason = async () => {
    const { status } = await definitions.get({ name: `widgets.${GROUP}` });
    return status?.conditions?.map(({ type, reason }) => `${type}: ${reason}`);
  };
  await expect
    .poll(reason)
    .toEqual(['NamesAccepted: NoConflicts', 'Established: InitialNamesAccepted', 'Terminating: InstanceDeletionInProgress']);
  await expect(widgets.create(widget('new') as never)).rejects.toThrow(
    `widgets.${GROUP} "new" is forbidden: create not allowed while custom resource definition is terminating`,
  );
});

it('a terminating definition reports remaining objects after a minute, and the outcome of their deletion', async () => {
  const { definitions, widgets, clock } = await served(['example.com/other']);
  await widgets.create(widget('held', ['example.com/hold']) as never);
  await definitions.delete({ name: `widgets.${GROUP}` });
  const terminating = async () =>
    (await definitions.get({ name: `widgets.${GROUP}` })).status?.conditions?.find(({ type }) => type === 'Terminating');
  await expect.poll(terminating).toMatchObject({ reason: 'InstanceDeletionInProgress' });
  for (let seconds = 0; seconds < 70 && (await terminating())?.reason !== 'InstanceDeletionCheck'; seconds++) await clock.advance(1000);
  expect(await terminating()).toMatchObject({
    status: 'True',
    reason: 'InstanceDeletionCheck',
    message: 'could not confirm zero CustomResources remaining: context deadline exceeded',
  });
  await clock.advance(1000);
  expect(await terminating()).toMatchObject({ reason: 'InstanceDeletionInProgress' });
  await widgets.patch({ name: 'held', namespace: 'default' }, { metadata: { finalizers: null } });
  await clock.advance(2000);
  await expect.poll(terminating).toMatchObject({ status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' });
});

const PATH = `/apis/${GROUP}/v1/namespaces/default/widgets`;

it.each([
  ['an object without metadata', { method: 'POST', path: PATH, body: { apiVersion: `${GROUP}/v1`, kind: 'Widget' } }, 422],
  ['a replacement of nothing in particular', { method: 'PUT', path: PATH, body: widget('a') }, 400],
  ['an object outside namespaces', { method: 'POST', path: `/apis/${GROUP}/v1/widgets`, body: widget('a') }, 404],
] as const)('%s is refused', async (_what, request, code) => {
  const { transport } = await served();
  const answered = transport.request(request).catch((error: { code: number }) => error);
  expect(await answered).toMatchObject({ code });
});
