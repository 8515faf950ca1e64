import { expect, test } from 'vitest';
import { core, rbac } from '#api';
import { StatusError } from '#machinery';
import { serveAdmission } from '../admission/admission-server.test-data.ts';

const METADATA = { name: 'a', namespace: 'default' };

test('a PUT of a missing object creates it if the kind allows creation on update', async () => {
  const roles = (await serveAdmission()).client.of(rbac.Role);
  const role = await roles.update({ metadata: METADATA, rules: [] });
  expect(role.metadata.uid).toBeTruthy();
});

test('a PUT with a uid does not create a missing object', async () => {
  const roles = (await serveAdmission()).client.of(rbac.Role);
  const error = await roles.update({ metadata: { ...METADATA, uid: 'gone' }, rules: [] }).catch((thrown: unknown) => thrown);
  if (!(error instanceof StatusError)) throw new Error('it was not refused');
  expect(error.code).toBe(409);
  expect(error.message).toMatch(/Key: \/registry\/roles\/default\/a, .* UID in precondition: gone, UID in object meta: $/);
});

test('a PUT of a missing object is 404, with or without a uid, if the kind does not allow creation on update', async () => {
  const maps = (await serveAdmission()).client.of(core.ConfigMap);
  const error = await maps.update({ metadata: { ...METADATA, uid: 'gone' } }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 404, reason: 'NotFound' });
});

test.each([
  ['.', `may not be '.'`],
  ['..', `may not be '..'`],
  ['a%b', `may not contain '%'`],
])('no object can have the name %s', async (name, problem) => {
  // Our client would reject the name before sending it.
  const { transport } = (await serveAdmission()).client;
  const path = `/api/v1/namespaces/default/configmaps/${name}`;
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
  const contentType = 'application/merge-patch+json';
  const requests = [{ method: 'GET' }, { method: 'DELETE' }, { method: 'PATCH', body: {}, contentType }, { method: 'PUT', body }] as const;
  for (const request of requests) {
    const thrown = await transport.request({ ...request, path }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 400, message: `Name parameter invalid: "${name}": ${problem}` });
  }
});

test('equal owner references are deduplicated; different ones are kept', async () => {
  const maps = (await serveAdmission()).client.of(core.ConfigMap);
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };
  const ownerReferences = [owner, { ...owner }, { ...owner, blockOwnerDeletion: true }];
  const created = await maps.create({ metadata: { ...METADATA, ownerReferences } });
  expect(created.metadata.ownerReferences).toEqual([owner, { ...owner, blockOwnerDeletion: true }]);
});
