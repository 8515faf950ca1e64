import { describe, expect, it } from 'vitest';
import { core, rbac } from '#api';
import { configMap, serveAdmission } from '../admission/admission-server.test-data.ts';

async function served() {
  const { client } = await serveAdmission();
  const maps = client.of(core.ConfigMap);
  await maps.create(configMap('a', { x: 'y' }));
  const key = { name: 'a', namespace: 'default' };
  return {
    patch: (patch: object, fieldValidation: 'Strict' | 'Ignore' = 'Strict') =>
      maps.patch(key, patch, { type: 'strategic', fieldValidation }),
  };
}

describe('a strategic merge patch', () => {
  it('is quoted in the error, not its result, if the result does not decode', async () => {
    const { patch } = await served();
    await expect(patch({ data: { x: 5 }, immutable: null })).rejects.toMatchObject({
      code: 422,
      message: ' "" is invalid: patch: Invalid value: "map[data:map[x:5] immutable:<nil>]": cannot convert int64 to string',
    });
  });

  it('is refused for unknown fields in strict validation, which are named in order', async () => {
    const { patch } = await served();
    const unknown = { zed: 1, data: { x: 'z' }, metadata: { nope: { a: null } } };
    await expect(patch(unknown)).rejects.toMatchObject({
      code: 422,
      message:
        ' "" is invalid: patch: Invalid value: "map[data:map[x:z] metadata:map[nope:map[]] zed:1]": ' +
        'strict decoding error: unknown field "metadata.nope", unknown field "zed"',
    });
    await expect(patch(unknown, 'Ignore')).resolves.toMatchObject({ data: { x: 'z' } });
  });

  it('cannot change the kind', async () => {
    const { patch } = await served();
    await expect(patch({ kind: 'Secret', apiVersion: 'apps/v1' })).resolves.toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
  });
});

describe('an applied configuration', () => {
  it('may leave out a key that is empty by default', async () => {
    const { client } = await serveAdmission();
    const template = { spec: { imagePullSecrets: [{}], containers: [{ name: 'c', image: 'i' }] } };
    const config = { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'a', namespace: 'default' }, template };
    const applied = await client.of(core.PodTemplate).apply(config as never, { fieldManager: 'me' });
    expect(applied.metadata.managedFields?.[0]?.fieldsV1).toMatchObject({
      'f:template': { 'f:spec': { 'f:imagePullSecrets': { 'k:{"name":""}': {} } } },
    });
  });

  it.each([
    [
      'a quantity',
      { resources: { limits: { cpu: 'x' } } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['a whole number', { livenessProbe: { periodSeconds: 1.5 } }, 'cannot convert float64 to int32'],
    ['a number or text', { livenessProbe: { tcpSocket: { port: true } } }, 'json: cannot unmarshal bool into Go value of type int32'],
  ])('that has a bad value for %s fails in the conversion to its kind', async (_, values, detail) => {
    const { client } = await serveAdmission();
    const template = { spec: { containers: [{ name: 'c', image: 'i', ...values }] } };
    const config = { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'a', namespace: 'default' }, template };
    const gvk = '/v1, Kind=PodTemplate';
    await expect(client.of(core.PodTemplate).apply(config as never, { fieldManager: 'me' })).rejects.toMatchObject({
      code: 500,
      message: `failed to convert new object (default/a; ${gvk}) to proper version: unable to convert unstructured object to ${gvk}: ${detail}`,
    });
  });
});

describe('a merge patch whose result does not decode', () => {
  async function rejection(patch: object): Promise<string> {
    const { client } = await serveAdmission();
    const roles = client.of(rbac.Role);
    const rules = [{ resources: ['configmaps'], verbs: ['get'], apiGroups: [''] }];
    await roles.create({ metadata: { name: 'a', namespace: 'default', labels: { z: '1', a: '2' } }, rules });
    const key = { name: 'a', namespace: 'default' };
    return await roles.patch(key, patch, { type: 'merge', fieldValidation: 'Strict' }).then(
      () => 'no error',
      ({ message }: Error) => message,
    );
  }

  it('is quoted with untouched items and maps in the order of upstream', async () => {
    const message = await rejection({ kind: 'Other' });
    expect(message).toContain(String.raw`\"labels\":{\"a\":\"2\",\"z\":\"1\"}`);
    expect(message).toContain(String.raw`\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"]}]`);
  });

  it('is quoted with the members of new items sorted', async () => {
    const message = await rejection({ kind: 'Other', rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] });
    expect(message).toContain(String.raw`\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"]}]`);
  });

  it('names unknown fields in the order of the quotation', async () => {
    const message = await rejection({ zed: 1, metadata: { nope: 1 }, abc: 2 });
    expect(message).toMatch(/unknown field "abc", unknown field "metadata.nope", unknown field "zed"$/);
  });
});
