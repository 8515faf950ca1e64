import { expect, test } from 'vitest';
import { rbac } from '#api';
import { StatusError } from '#machinery';
import { serveAdmission } from '../admission/admission-server.test-data.ts';

const METADATA = { name: 'a', namespace: 'default' };

test('a PUT of what is not there creates it, where the kind allows that', async () => {
  const roles = (await serveAdmission()).client.of(rbac.Role);
  const made = await roles.update({ metadata: METADATA, rules: [] });
  expect(made.metadata.uid).toBeTruthy();
});

test('a PUT for an object that is known by its uid does not make another one', async () => {
  const roles = (await serveAdmission()).client.of(rbac.Role);
  const error = await roles.update({ metadata: { ...METADATA, uid: 'gone' }, rules: [] }).catch((thrown: unknown) => thrown);
  if (!(error instanceof StatusError)) throw new Error('it was not refused');
  expect(error.code).toBe(409);
  expect(error.message).toMatch(/Key: \/registry\/roles\/default\/a, .* UID in precondition: gone, UID in object meta: $/);
});
