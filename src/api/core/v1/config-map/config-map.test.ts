import { describe, expect, test } from 'vitest';
import { secretBehaviour } from '../secret/secret.behaviour.ts';
import type { Secret } from '../secret/secret.ts';
import { serviceAccountBehaviour } from '../service-account/service-account.behaviour.ts';
import { configMapBehaviour } from './config-map.behaviour.ts';
import type { ConfigMap } from './config-map.ts';

const maps = configMapBehaviour as Required<typeof configMapBehaviour>;
const secrets = secretBehaviour as Required<typeof secretBehaviour>;
const accounts = serviceAccountBehaviour as Required<typeof serviceAccountBehaviour>;
const metadata = { name: 'a', namespace: 'ns' };
const encoded = (text: string) => Buffer.from(text).toString('base64');

describe('a config map', () => {
  const map = (parts: Partial<ConfigMap>): ConfigMap => ({ metadata, ...parts });

  test.each<[string, Partial<ConfigMap>, readonly string[]]>([
    ['with text and bytes', { data: { a: 'x' }, binaryData: { b: 'AA==' } }, []],
    [
      'with keys that are no names of files',
      { data: { '..': 'x', 'a/b': 'y' } },
      [
        'data[..]: Invalid value: "..": must not be \'..\'',
        "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    [
      'with a key in both',
      { data: { a: 'x' }, binaryData: { a: 'AA==' } },
      ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ],
    ['of a megabyte', { data: { a: 'x'.repeat(1024 * 1024) } }, []],
    [
      'of more than a megabyte of bytes',
      { binaryData: { a: encoded('x'.repeat(1024 * 1024 + 1)) } },
      [': Too long: may not be more than 1048576 bytes'],
    ],
  ])('%s', (_, parts, errors) => {
    expect(maps.validate(map(parts)).map(String)).toEqual(errors);
  });

  test('that is frozen stays as it is', () => {
    const frozen = map({ immutable: true, data: { a: 'x' } });
    expect(maps.validateUpdate({ ...frozen, metadata: { ...metadata, labels: { a: 'b' } } }, frozen).map(String)).toEqual([]);
    expect(maps.validateUpdate(map({ data: { a: 'y' } }), frozen).map(String)).toEqual([
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ]);
  });

  test('prints how much it holds', () => {
    expect(maps.table.cells(map({ data: { a: 'x' }, binaryData: { b: 'AA==' } }), 0)).toEqual(['a', 2, '<unknown>']);
  });
});

describe('a secret', () => {
  const secret = (parts: Partial<Secret>): Secret => secrets.defaults({ metadata, ...parts });

  test('is of any kind unless told', () => {
    expect(secret({}).type).toBe('Opaque');
  });

  test.each<[string, Partial<Secret>, readonly string[]]>([
    ['of any kind', { data: { a: encoded('x') } }, []],
    ['with a key that is no name of a file', { data: { '.': encoded('x') } }, ['data[.]: Invalid value: ".": must not be \'.\'']],
    [
      'of an account that it does not name',
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    ['for a registry, without what it needs', { type: 'kubernetes.io/dockerconfigjson' }, ['data[.dockerconfigjson]: Required value']],
    [
      'for a registry, that is no JSON',
      { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': encoded('{a') } },
      [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'a\' looking for beginning of object key string',
      ],
    ],
    [
      'for a registry in the old form, that is a list',
      { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': encoded('[]') } },
      [
        'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    [
      'with neither a user nor a password',
      { type: 'kubernetes.io/basic-auth' },
      ['data[username]: Required value', 'data[password]: Required value'],
    ],
    ['without a key for SSH', { type: 'kubernetes.io/ssh-auth' }, ['data[ssh-privatekey]: Required value']],
    ['without a certificate', { type: 'kubernetes.io/tls', data: { 'tls.key': '' } }, ['data[tls.crt]: Required value']],
    ['that is too large', { data: { a: encoded('x'.repeat(1024 * 1024 + 1)) } }, ['data: Too long: may not be more than 1048576 bytes']],
  ])('%s', (_, parts, errors) => {
    expect(secrets.validate(secret(parts)).map(String)).toEqual(errors);
  });

  test('keeps its kind, and all of itself when frozen', () => {
    expect(secrets.validateUpdate(secret({ type: 'example.com/x' }), secret({})).map(String)).toEqual([
      'type: Invalid value: "example.com/x": field is immutable',
    ]);
    expect(secrets.validateUpdate(secret({ data: { a: '' } }), secret({ immutable: true })).map(String)).toEqual([
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ]);
  });

  test('prints its kind and how much it holds', () => {
    expect(secrets.table.cells(secret({ data: { a: '', b: '' } }), 0)).toEqual(['a', 'Opaque', 2, '<unknown>']);
  });
});

test('a service account with the deprecated annotation for mountable secrets has a warning', () => {
  const annotated = { metadata: { ...metadata, annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } };
  expect(accounts.validate({ metadata })).toEqual([]);
  expect(accounts.warnings(annotated)).toEqual([
    'metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets',
  ]);
  expect(accounts.warnings(annotated, annotated)).toEqual([]);
});
