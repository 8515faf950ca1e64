import { expect, it, test } from 'vitest';
import { parseEncryptionConfiguration } from './encryption-configuration.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const parse = (resources: string) =>
  parseEncryptionConfiguration(`{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: ${resources}}`, 'file');
const providers = (text: string) => `[{resources: [secrets], providers: [${text}]}]`;

it('an encryption configuration is read', () => {
  const kms = 'kms: {apiVersion: v2, name: plugin, endpoint: "unix:///run/kms.sock", timeout: 5s}';
  expect(
    parse(`[{resources: [secrets, '*.apps'], providers: [{aescbc: {keys: [{name: a, secret: ${KEY}}]}}, {${kms}}, {identity: {}}]}]`),
  ).toEqual({
    resources: [
      {
        resources: ['secrets', '*.apps'],
        providers: [
          { type: 'aescbc', keys: [{ name: 'a', secret: Buffer.alloc(32, 7) }] },
          { type: 'kms', name: 'plugin', endpoint: 'unix:///run/kms.sock', timeoutMs: 5000 },
          { type: 'identity' },
        ],
      },
    ],
  });
});

test.each([
  ['[]', 'resources: Required value: at least one resources is required'],
  ['[{resources: [], providers: [{identity: {}}]}]', 'resources[0].resources: Required value'],
  ['[{resources: [secrets]}]', 'resources[0].providers: Required value: at least one resources[0].providers is required'],
  [providers('{}'), 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'],
  [providers(`{identity: {}, aescbc: {keys: [{name: a, secret: ${KEY}}]}}`), 'more than one provider specified in a single element'],
  [providers('{aesgcm: {keys: []}}'), 'resources[0].providers[0].aesgcm.keys: Required value: at least one keys is required'],
  [
    providers('{aesgcm: {keys: [{name: a, secret: c2hvcnQ=}]}}'),
    'Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of [16 24 32]',
  ],
  [providers('{secretbox: {keys: [{name: a, secret: "?"}]}}'), 'secrets must be base64 encoded'],
  [providers(`{aesgcm: {keys: [{secret: ${KEY}}]}}`), 'keys[0].name: Required value: name is a mandatory field for a key'],
  [providers('{kms: {apiVersion: v2, name: "a:b", endpoint: "unix:///a"}}'), "invalid KMS provider name a:b, must not contain ':'"],
  [providers('{kms: {apiVersion: v2, name: a, endpoint: "tcp://a"}}'), 'unsupported scheme "tcp" for KMS provider, only unix is supported'],
  [providers('{kms: {name: a, endpoint: "unix:///a"}}'), 'KMSv1 is deprecated and switched off. Use KMSv2 instead'],
  [providers('{kms: {apiVersion: v2, name: a, endpoint: "unix:///a", cachesize: 10}}'), 'cachesize is not supported in v2'],
  [
    providers('{kms: {apiVersion: v2, name: a, endpoint: "unix:///a"}}, {kms: {apiVersion: v2, name: a, endpoint: "unix:///a"}}'),
    'duplicate KMS provider name a, names must be unique',
  ],
  ["[{resources: ['*'], providers: [{identity: {}}]}]", "use '*.' to encrypt all the resources from core API group"],
  ["[{resources: [secrets, '*.'], providers: [{identity: {}}]}]", "using overlapping resources such as 'secrets' and '*.'"],
  ['[{resources: [secrets, secrets], providers: [{identity: {}}]}]', 'the same resource cannot be specified multiple times'],
  ['[{resources: [events.events.k8s.io], providers: [{identity: {}}]}]', "Use 'events' instead in the config file"],
  ['[{resources: [Secrets], providers: [{identity: {}}]}]', 'resource name should not contain capital letters'],
  ['[{resources: [secrets], provider: [{identity: {}}]}]', 'strict decoding error: resources[0].provider: unknown field'],
])('an encryption configuration is rejected: %s', (resources, message) => {
  expect(() => parse(resources)).toThrow(message);
});

it('errors of an encryption configuration never contain a secret', () => {
  const secret = Buffer.alloc(31, 9).toString('base64');
  const error = (() => {
    try {
      return parse(providers(`{aesgcm: {keys: [{name: a, secret: ${secret}}]}}`));
    } catch (failure) {
      return failure;
    }
  })();
  expect(String(error)).not.toContain(secret);
});
