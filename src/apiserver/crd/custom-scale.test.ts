import { expect, it } from 'vitest';
import { apiextensions } from '#api';
import { serveAdmission } from '../admission/admission-server.test-data.ts';

const GROUP = 'scale.example.com';
const PATH = `/apis/${GROUP}/v1/namespaces/default/widgets`;

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { replicas: { type: 'integer', maximum: 5 } } },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

async function served() {
  const { client } = await serveAdmission();
  const { transport } = client;
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  await client.of(apiextensions.CustomResourceDefinition).create({
    metadata: { name: `widgets.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { scale } }],
    },
  } as never);
  await expect.poll(() => transport.request({ method: 'GET', path: PATH }).catch(() => undefined)).toBeDefined();
  const create = (name: string, spec: object) =>
    transport.request({ method: 'POST', path: PATH, body: { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name }, spec } });
  await create('counted', { replicas: 1 });
  await create('uncounted', {});
  const put = (name: string, spec: object, metadata: object = {}) =>
    transport.request({ method: 'PUT', path: `${PATH}/${name}/scale`, body: { metadata: { name, ...metadata }, spec } });
  const patch = (name: string, body: object) =>
    transport.request({ method: 'PATCH', path: `${PATH}/${name}/scale`, body, contentType: 'application/merge-patch+json' });
  return { put, patch };
}

it('the scale of a custom resource is replaced without a resource version', async () => {
  const { put } = await served();
  expect(await put('counted', { replicas: 3 })).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
  expect(await put('uncounted', {})).toMatchObject({ kind: 'Scale', spec: {} });
  await expect(put('counted', { replicas: 2 }, { resourceVersion: '1' })).rejects.toMatchObject({ code: 409 });
});

it('a scale that the custom resource does not allow is rejected in the name of the resource', async () => {
  const { put } = await served();
  const invalid = `Widget.${GROUP} "counted" is invalid: `;
  await expect(put('counted', { replicas: -1 })).rejects.toThrow(
    `${invalid}.spec.replicas: Invalid value: -1: should be a non-negative integer`,
  );
  await expect(put('counted', { replicas: 7 })).rejects.toThrow(
    `${invalid}spec.replicas: Invalid value: 7: spec.replicas in body should be less than or equal to 5`,
  );
});

it('a patch that leaves a custom resource without replicas is rejected', async () => {
  const { patch } = await served();
  expect(await patch('uncounted', { metadata: { name: 'uncounted' } }).catch((error: unknown) => error)).toMatchObject({
    code: 400,
    message: 'the spec replicas field ".spec.replicas" cannot be empty',
  });
  expect(await patch('uncounted', { spec: { replicas: 2 } })).toMatchObject({ spec: { replicas: 2 } });
});
