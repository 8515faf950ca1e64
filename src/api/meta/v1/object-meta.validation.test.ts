import { describe, expect, test } from 'vitest';
import { MAX_FIELD_ERRORS, nameIsDnsSubdomain } from '#machinery';
import { validateConditions } from './condition.validation.ts';
import { validateLabelSelector } from './label.validation.ts';
import type { ObjectMeta } from './object-meta.ts';
import { isUnchangedMeta, METADATA, validateObjectMeta, validateObjectMetaUpdate } from './object-meta.validation.ts';

const RULES = { namespaced: true, nameRule: nameIsDnsSubdomain };
const GOOD: ObjectMeta = { name: 'a', namespace: 'ns' };
const create = (meta: ObjectMeta) => validateObjectMeta({ ...GOOD, ...meta }, RULES).map(String);

describe('metadata at creation', () => {
  test('is fine with a name and a namespace', () => {
    expect(validateObjectMeta(GOOD, RULES)).toEqual([]);
  });

  test('needs a name', () => {
    expect(validateObjectMeta({ namespace: 'ns' }, RULES).map(String)).toEqual([
      'metadata.name: Required value: name or generateName is required',
    ]);
  });

  test('is refused by a missing or an unwanted namespace', () => {
    expect(validateObjectMeta({ name: 'a' }, RULES).map(String)).toEqual(['metadata.namespace: Required value']);
    expect(validateObjectMeta(GOOD, { ...RULES, namespaced: false }).map(String)).toEqual([
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
  });

  test.each<[string, ObjectMeta, string]>([
    [
      'a label key with two slashes',
      { labels: { 'a/b/c': 'x' } },
      'metadata.labels: Invalid value: "a/b/c": a valid label key must consist of',
    ],
    [
      'a label value with a space',
      { labels: { a: 'b c' } },
      'metadata.labels: Invalid value: "b c": a valid label must be an empty string or',
    ],
    [
      'an annotation key with a space',
      { annotations: { 'a b': '' } },
      'metadata.annotations: Invalid value: "a b": name part must consist of',
    ],
    [
      'a finalizer without a domain',
      { finalizers: ['plain'] },
      'metadata.finalizers[0]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified',
    ],
    [
      'finalizers that contradict each other',
      { finalizers: ['orphan', 'foregroundDeletion'] },
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ],
    [
      'an event as owner',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u' }] },
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ],
    [
      'a manager that is neither apply nor update',
      { managedFields: [{ manager: 'm', operation: 'Guess', fieldsType: 'FieldsV2' }] },
      'metadata.managedFields[0].operation: Invalid value: "Guess": must be `Apply` or `Update`',
    ],
    [
      'a manager with a line break',
      { managedFields: [{ manager: 'a\nb', operation: 'Update' }] },
      'metadata.managedFields[0].manager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
    ],
  ])('is refused for %s', (_, meta, message) => {
    expect(create(meta)[0]).toContain(message);
  });

  test('lets keys of annotations be in upper case', () => {
    expect(create({ annotations: { 'Example.com/UPPER': 'x' } })).toEqual([]);
  });

  test('limits the size of all annotations together, in bytes', () => {
    expect(create({ annotations: { a: 'x'.repeat(256 * 1024 - 1) } })).toEqual([]);
    expect(create({ annotations: { a: 'ü'.repeat(128 * 1024) } })).toEqual([
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ]);
  });

  test('has at most one controller', () => {
    const owner = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true });
    expect(create({ ownerReferences: [owner('a'), owner('b')] })).toEqual([
      'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"a","uid":"a","controller":true},{"apiVersion":"v1","kind":"Pod","name":"b","uid":"b","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Pod/a and Pod/b',
    ]);
  });
});

describe('metadata on update', () => {
  const old: ObjectMeta = { ...GOOD, uid: 'u', generation: 2, creationTimestamp: '2024-01-01T00:00:00Z' };
  const update = (meta: ObjectMeta, before: ObjectMeta = old) => validateObjectMetaUpdate({ ...before, ...meta }, before).map(String);

  test('may stay as it was', () => {
    expect(update({})).toEqual([]);
  });

  test.each<[keyof ObjectMeta, unknown, string]>([
    ['name', 'b', 'metadata.name: Invalid value: "b": field is immutable'],
    ['namespace', 'other', 'metadata.namespace: Invalid value: "other": field is immutable'],
    ['uid', 'v', 'metadata.uid: Invalid value: "v": field is immutable'],
    ['generation', 1, 'metadata.generation: Invalid value: 1: must not be decremented'],
    ['deletionTimestamp', '2024-02-02T00:00:00Z', 'metadata.deletionTimestamp: Invalid value: "2024-02-02T00:00:00Z": field is immutable'],
    ['deletionGracePeriodSeconds', 3, 'metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable'],
  ])('may not change %s', (field, value, message) => {
    expect(update({ [field]: value })).toEqual([message]);
  });

  test('may not add finalizers once the object is being deleted', () => {
    const deleted: ObjectMeta = { ...old, deletionTimestamp: '2024-02-02T00:00:00Z', finalizers: ['a.example/b'] };
    expect(update({ finalizers: [] }, deleted)).toEqual([]);
    expect(update({ finalizers: ['a.example/b', 'a.example/c'] }, deleted)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.example/c"}',
    ]);
  });
});

test('selectors are checked for operators, values and keys', () => {
  const selector = {
    matchExpressions: [
      { key: 'a', operator: 'Like' },
      { key: 'b', operator: 'In' },
      { key: 'c', operator: 'Exists', values: ['x'] },
      { key: 'd', operator: 'In', values: ['no good'] },
    ],
  };
  expect(validateLabelSelector(selector, METADATA).map(({ field, type }) => `${field} ${type}`)).toEqual([
    'metadata.matchExpressions[0].operator FieldValueInvalid',
    'metadata.matchExpressions[1].values FieldValueRequired',
    'metadata.matchExpressions[2].values FieldValueForbidden',
    'metadata.matchExpressions[3].values[0] FieldValueInvalid',
  ]);
  expect(validateLabelSelector(selector, METADATA, { allowInvalidValues: true, allowUnknownOperators: true })).toHaveLength(2);
});

test('conditions have one entry a type, a known status and a reason', () => {
  const condition = { type: 'A', status: 'True', reason: 'Because', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' };
  expect(validateConditions([condition], METADATA)).toEqual([]);
  const bad = [condition, { ...condition, status: 'Maybe', reason: '9', lastTransitionTime: '' }];
  expect(validateConditions(bad, METADATA).map(({ field, type }) => `${field} ${type}`)).toEqual([
    'metadata[1].type FieldValueDuplicate',
    'metadata[1].status FieldValueNotSupported',
    'metadata[1].lastTransitionTime FieldValueRequired',
    'metadata[1].reason FieldValueInvalid',
  ]);
});

test('a million owners that are all wrong make a bounded number of errors', () => {
  const ownerReferences = Array.from({ length: 1_000_000 }, () => ({ apiVersion: '', kind: '', name: '', uid: '', controller: true }));
  const errors = validateObjectMeta({ ...GOOD, ownerReferences }, RULES);
  expect(errors.length).toBeLessThan(200);
});

test.each<[string, ObjectMeta]>([
  ['labels', { labels: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`!${i}`, ''])) }],
  ['annotations', { annotations: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`!${i}`, ''])) }],
  ['finalizers', { finalizers: Array.from({ length: 20_000 }, () => 'a/!') }],
])('bad %s are reported up to the limit of errors', (_, meta) => {
  expect(validateObjectMeta({ ...GOOD, ...meta }, RULES)).toHaveLength(MAX_FIELD_ERRORS);
});

describe('metadata is unchanged', () => {
  const labels = { app: 'web' };
  const stored = { name: 'a', uid: 'u', labels, resourceVersion: '1', generation: 1 };
  test.each([
    ['as it is stored', stored, true],
    ['with another version, owner of fields and generation', { ...stored, resourceVersion: '2', generation: 2, managedFields: [] }, true],
    ['with an earlier generation', { ...stored, generation: 0 }, false],
    ['with other labels', { ...stored, labels: { app: 'web' } }, false],
    ['with a finalizer', { ...stored, finalizers: ['a/b'] }, false],
    ['without its labels', { ...stored, labels: undefined }, false],
  ])('%s', (_, metadata, isUnchanged) => {
    expect(isUnchangedMeta(metadata as ObjectMeta, stored)).toBe(isUnchanged);
  });
});
