import { afterAll, beforeAll, expect, test } from 'vitest';
import { admissionregistration } from '#api';
import type { Client } from '#client';
import type { ApiServer } from '../../server.ts';
import { serveAdmission } from '../admission-server.test-data.ts';

let client: Client;
let server: ApiServer;
beforeAll(async () => {
  ({ client, server } = await serveAdmission(({ resource, verb }) => resource === 'secrets' || (resource === '*' && verb === 'list')));
});
afterAll(() => server[Symbol.asyncDispose]());

const outcome = (write: Promise<unknown>) =>
  write.then(
    () => 'accepted',
    (error: Error) => error.message.replace(/^.* is invalid: /, ''),
  );
const USER = 'user &{tester  [devs] map[]}';

const policy = (name: string, kind: string) => ({
  metadata: { name },
  spec: {
    paramKind: { apiVersion: 'v1', kind },
    matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }] },
    validations: [{ expression: 'true' }],
  },
});

test('writing a policy needs the right to read its parameters', async () => {
  const policies = client.of(admissionregistration.ValidatingAdmissionPolicy);
  expect(await outcome(policies.create(policy('maps', 'ConfigMap')))).toBe('accepted');
  const refusal = `spec.paramKind: Forbidden: ${USER} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`;
  expect(await outcome(policies.create(policy('secrets', 'Secret')))).toBe(refusal);
  const created = await policies.get({ name: 'maps' });
  const toSecrets = { ...created, spec: { ...created.spec, paramKind: { apiVersion: 'v1', kind: 'Secret' } } };
  expect(await outcome(policies.update(toSecrets))).toBe(refusal);
  expect(await outcome(policies.update({ ...created, spec: { ...created.spec, failurePolicy: 'Ignore' } }))).toBe('accepted');
});

test.each<[string, string, Record<string, unknown>, string]>([
  ['parameters that may be read', 'maps', { name: 'a', namespace: 'default' }, 'accepted'],
  ['all parameters that may be listed', 'maps', { selector: {} }, 'accepted'],
  [
    'parameters of a policy that is not there',
    'absent',
    { selector: {} },
    `spec.paramRef: Forbidden: unable to get policy absent to determine minimum required permissions and ${USER} does not have "list" permission for all groups, versions and resources`,
  ],
  [
    'parameters of a kind that is not there',
    'unknown',
    { selector: {} },
    `spec.paramRef: Forbidden: unable to resolve paramKind &{v1 Nothing} to determine minimum required permissions and ${USER} does not have "list" permission for all groups, versions and resources`,
  ],
])('binding a policy to %s has the expected result', async (_, policyName, paramRef, expected) => {
  const policies = client.of(admissionregistration.ValidatingAdmissionPolicy);
  if (policyName === 'unknown') await policies.create(policy('unknown', 'Nothing'));
  const bindings = client.of(admissionregistration.ValidatingAdmissionPolicyBinding);
  const spec = { policyName, validationActions: ['Deny'], paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } };
  expect(await outcome(bindings.create({ metadata: { name: `b${Object.keys(paramRef).length}-${policyName}` }, spec } as never))).toBe(
    expected,
  );
});

test('bindings of mutating policies require the right to read parameters', async () => {
  const bindings = client.of(admissionregistration.MutatingAdmissionPolicyBinding);
  const spec = { policyName: 'absent', paramRef: { selector: {}, parameterNotFoundAction: 'Deny' } };
  expect(await outcome(bindings.create({ metadata: { name: 'b' }, spec } as never))).toMatch(
    /^spec.paramRef: Forbidden: unable to get policy/,
  );
});
