import { describe, expect, test } from 'vitest';
import { core } from '#api';
import { encodeEnvelope, encodeProtobuf } from '#machinery';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { storageFormat } from './storage-format.ts';

const identity = (object: KubeObject) => object;
const version = { apiVersion: 'v1', schema: core.ConfigMap, toInternal: identity, fromInternal: identity };
const KIND = { kind: 'ConfigMap', apiVersion: 'v1', versions: new Map([['v1', version]]) };
const CUSTOM = { kind: 'Widget', apiVersion: 'example.com/v2', versions: undefined };
const OWN = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"}}';
const JSON_FORMAT = storageFormat(KIND, 'application/json');
const PROTOBUF = storageFormat(KIND, 'application/vnd.kubernetes.protobuf');
const bytes = encodeEnvelope({ kind: 'ConfigMap', apiVersion: 'v1' }, encodeProtobuf(core.ConfigMap, JSON.parse(OWN)));

function read(format: typeof PROTOBUF, stored: Buffer | string) {
  const { bytes: plain, isStale } = format.decrypt(Buffer.from(stored), '/k') as { bytes: Buffer; isStale: boolean };
  return { text: plain.toString(), isStale };
}

describe('the form of values in a store that others use, too', () => {
  test.each([
    ["this server's own, where JSON is written", JSON_FORMAT, OWN, false],
    ["this server's own, where protobuf is written", PROTOBUF, OWN, true],
    ['protobuf, where JSON is written', JSON_FORMAT, bytes, true],
    ['protobuf, where protobuf is written', PROTOBUF, bytes, false],
    ['JSON in another order', JSON_FORMAT, '{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"name":"a"}}', false],
  ])('%s', (_, format, stored, isStale) => {
    const result = read(format, stored);
    expect(JSON.parse(result.text)).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } });
    expect(result.text.startsWith('{"kind":"ConfigMap","apiVersion":"v1","metadata":{')).toBe(true);
    expect(result.isStale).toBe(isStale);
  });

  test('custom resources keep their version, and are JSON whatever the media type', () => {
    const custom = storageFormat(CUSTOM, 'application/vnd.kubernetes.protobuf');
    const own = '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w"}}';
    expect(read(custom, '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}').text).toBe(own);
    expect(custom.encrypt(Buffer.from(own), '/k').toString()).toBe(own);
  });

  test('what is written is read back', () => {
    const written = PROTOBUF.encrypt(Buffer.from(OWN), '/k');
    expect(written.subarray(0, 4).toString('latin1')).toBe('k8s\0');
    expect(JSON.parse(read(JSON_FORMAT, written).text)).toMatchObject({ data: { k: 'v' } });
  });
});
