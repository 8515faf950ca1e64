import { describe, expect, test } from 'vitest';
import type { ObjectSchema, Schema } from '#machinery';
import * as api from './index.ts';

function objectsIn(schema: Schema, seen = new Map<string, ObjectSchema>()): ReadonlyMap<string, ObjectSchema> {
  if (schema.type === 'list') return objectsIn(schema.items, seen);
  if (schema.type === 'map') return objectsIn(schema.values, seen);
  if (schema.type !== 'object' || seen.has(schema.name)) return seen;
  seen.set(schema.name, schema);
  for (const field of schema.fields) objectsIn(field.schema, seen);
  return seen;
}

const numbers = (schema: ObjectSchema | undefined) => Object.fromEntries((schema?.fields ?? []).map(({ name, number }) => [name, number]));

describe('a version on top of a stable kind', () => {
  test.each(api.PRERELEASE_KINDS.map((kind) => [`${kind.version} ${kind.kind}`, kind] as const))('%s has types of its own', (_, kind) => {
    const own = kind.name.slice(0, -kind.kind.length);
    const group = own.split('.').slice(0, -2).join('.');
    const foreign = [...objectsIn(kind).keys()].filter((name) => name.startsWith(`${group}.`) && !name.startsWith(own));
    expect(foreign).toEqual([]);
    expect(kind.name).toBe(`${own}${kind.kind}`);
    expect(own).toContain(`.${kind.version}.`);
  });

  test('types that differ have their own fields and numbers', () => {
    const types = objectsIn(api.resourceV1beta1.ResourceClaim);
    expect(numbers(types.get('io.k8s.api.resource.v1beta1.DeviceRequest'))).toEqual({
      name: 1,
      deviceClassName: 2,
      selectors: 3,
      allocationMode: 4,
      count: 5,
      adminAccess: 6,
      firstAvailable: 7,
      tolerations: 8,
      capacity: 9,
    });
    expect(numbers(objectsIn(api.resourceV1beta1.ResourceSlice).get('io.k8s.api.resource.v1beta1.Device'))).toEqual({ name: 1, basic: 2 });
  });

  test('errors name types of the version', () => {
    const mutation = objectsIn(api.admissionregistrationV1beta1.MutatingAdmissionPolicy).get(
      'io.k8s.api.admissionregistration.v1beta1.Mutation',
    );
    expect(mutation?.fieldsByName.get('patchType')?.schema).toMatchObject({ goName: 'v1beta1.PatchType' });
  });
});

describe('a lease candidate', () => {
  const { validate, validateUpdate } = api.coordinationV1beta1.leaseCandidateBehaviour;
  const candidate = (spec: Partial<api.coordinationV1beta1.LeaseCandidateSpec>) => ({
    metadata: { name: 'a', namespace: 'ns' },
    spec: { leaseName: 'l', binaryVersion: '1.36.0', emulationVersion: '1.36.0', strategy: 'OldestEmulationVersion', ...spec },
  });

  test.each([
    [{}, []],
    [{ leaseName: '' }, ['spec.leaseName: Required value']],
    [{ binaryVersion: '' }, ['spec.binaryVersion: Required value']],
    [{ binaryVersion: '1.36' }, ['spec.binaryVersion: Invalid value: "1.36": must be a valid semantic version']],
    [{ binaryVersion: '1.35.0' }, ['spec.binaryVersion: Invalid value: "1.35.0": must be greater than or equal to `emulationVersion`']],
    [{ emulationVersion: '' }, ["spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"]],
    [{ strategy: '' }, ['spec.strategy: Required value']],
  ])('with %j', (spec, errors) => {
    expect(validate!(candidate(spec)).map(String)).toEqual(errors);
  });

  test('stays with its lease', () => {
    expect(validateUpdate!(candidate({ leaseName: 'm' }), candidate({})).map(String)).toEqual([
      'spec.leaseName: Invalid value: "m": field is immutable',
    ]);
  });
});

describe('a cluster trust bundle', () => {
  const { validate } = api.certificatesV1beta1.clusterTrustBundleBehaviour;

  test.each([
    [
      { name: 'a' },
      { trustBundle: '' },
      ['spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided'],
    ],
    [
      { name: 'a' },
      { trustBundle: '-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n' },
      ['spec.trustBundle: Invalid value: "<value omitted>": entry 0 has bad block type: KEY'],
    ],
    [
      { name: 'a' },
      { trustBundle: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' },
      ['spec.trustBundle: Invalid value: "<value omitted>": entry 0 does not parse as X.509'],
    ],
  ])('%j %j is refused', (metadata, spec, errors) => {
    expect(validate!({ metadata, spec }).map(String)).toEqual(errors);
  });

  test('of a signer is named after it', () => {
    const errors = validate!({ metadata: { name: 'a' }, spec: { signerName: 'example.com/s', trustBundle: '' } }).map(String);
    expect(errors[0]).toContain('ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:');
  });
});
