import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { core } from '#api';
import { silentLogger, VirtualClock } from '#base';
import { parseYaml } from '#machinery';
import { CredentialProvider } from './credential-provider.ts';
import { DockerConfigError, keyringEntriesOf } from './docker-config.ts';
import { ImageCredentials } from './image-credentials.ts';
import { Keyring } from './keyring.ts';
import { parseProviderConfig, readProviderConfig } from './provider-config.ts';
import { matchesImage } from './registry-pattern.ts';

test.each([
  ['example.com', 'example.com/app', true],
  ['example.com', 'other.com/app', false],
  ['*.example.com', 'a.example.com/app', true],
  ['*.example.com', 'example.com/app', false],
  ['*.example.com', 'a.b.example.com/app', false],
  ['prefix*.example.com', 'prefix-a.example.com/app', true],
  ['example.com:5000', 'example.com:5000/app', true],
  ['example.com', 'example.com:5000/app', false],
  ['example.com/team', 'example.com/team/app', true],
  ['example.com/team', 'example.com/other/app', false],
  ['https://example.com', 'example.com/app', true],
  ['[::1]:5000', '[::1]:5000/app', true],
  ['', 'example.com/app', false],
])('the pattern %s matches %s: %s', (pattern, image, expected) => {
  expect(matchesImage(pattern, image)).toBe(expected);
});

const auth = (username: string) => ({ username, password: 'secret' });

describe('a keyring', () => {
  test('gives the most specific credentials first', () => {
    const keyring = new Keyring([
      { pattern: 'example.com', auth: auth('host') },
      { pattern: 'example.com/team', auth: auth('team') },
      { pattern: '*.com', auth: auth('all') },
    ]);
    expect(keyring?.lookup('example.com/team/app').map(({ username }) => username)).toEqual(['team', 'host', 'all']);
    expect(keyring?.lookup('example.com/app').map(({ username }) => username)).toEqual(['host', 'all']);
    expect(keyring?.lookup('example.org/app')).toEqual([]);
  });

  test.each(['https://index.docker.io/v1/', 'index.docker.io', 'https://index.docker.io/v2/'])(
    'takes %s for the default registry',
    (pattern) => {
      const keyring = new Keyring([{ pattern, auth: auth('hub') }]);
      expect(keyring?.lookup('docker.io/library/busybox')).toEqual([auth('hub')]);
      expect(keyring?.lookup('example.com/busybox')).toEqual([]);
    },
  );
});

function secret(type: string, key: string, content: string): core.Secret {
  return { metadata: { name: 's', namespace: 'default' }, type, data: { [key]: Buffer.from(content).toString('base64') } } as core.Secret;
}

describe('a pull secret', () => {
  const encoded = Buffer.from('user:pass:word').toString('base64');
  const expected = [{ pattern: 'example.com', auth: { username: 'user', password: 'pass:word' } }];

  test.each([
    [
      'docker configuration',
      secret('kubernetes.io/dockerconfigjson', '.dockerconfigjson', `{"auths":{"example.com":{"auth":"${encoded}"}}}`),
      expected,
    ],
    [
      'docker configuration in plain text',
      secret('kubernetes.io/dockerconfigjson', '.dockerconfigjson', '{"auths":{"example.com":{"username":"user","password":"pass:word"}}}'),
      expected,
    ],
    [
      'legacy configuration',
      secret('kubernetes.io/dockercfg', '.dockercfg', `{"example.com":{"auth":"${encoded}","email":"x"}}`),
      expected,
    ],
    ['of another type', secret('Opaque', '.dockerconfigjson', '{"auths":{"example.com":{}}}'), []],
  ])('with a %s is read', (_, config, entries) => {
    expect(keyringEntriesOf(config)).toEqual(entries);
  });

  test.each(['{', '5', 'null', '{"auths":5}', '{"auths":{"example.com":{"auth":"bm9jb2xvbg=="}}}'])(
    'that holds %s is rejected',
    (content) => {
      expect(() => keyringEntriesOf(secret('kubernetes.io/dockerconfigjson', '.dockerconfigjson', content))).toThrow(DockerConfigError);
    },
  );
});

const CONFIG = `
apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: provider
  matchImages: ["*.example.com"]
  defaultCacheDuration: 1m
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  args: [get]
  env: [{name: WHO, value: me}]
`;

describe('the configuration of credential providers', () => {
  test('is read', () => {
    expect(parseProviderConfig(CONFIG)).toEqual([
      {
        name: 'provider',
        matchImages: ['*.example.com'],
        defaultCacheMs: 60_000,
        apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
        args: ['get'],
        env: [{ name: 'WHO', value: 'me' }],
      },
    ]);
  });

  test.each([
    ['kind: CredentialProviderConfig', 'kind: Other', 'not a CredentialProviderConfig'],
    ['name: provider', 'name: ../provider', 'must be the name of a program'],
    ['matchImages: ["*.example.com"]', 'matchImages: []', 'needs at least one pattern'],
    ['defaultCacheDuration: 1m', 'defaultCacheDuration: -1m', 'must be a duration that is not negative'],
    ['apiVersion: credentialprovider.kubelet.k8s.io/v1', 'apiVersion: v7', 'providers[0].apiVersion must be one of'],
    ['args: [get]', 'arguments: [get]', 'unknown field "arguments"'],
  ])('with %s replaced by %s is rejected', (from, to, text) => {
    expect(() => parseProviderConfig(CONFIG.replace(from, to))).toThrow(text);
  });
});

const ANNOTATIONS = new Map([['annotated', { 'example.com/role': 'puller', 'example.com/other': 'x' }]]);
const podOf = (name: string, serviceAccountName = ''): core.Pod => ({
  metadata: { name, namespace: 'default' },
  spec: { serviceAccountName, containers: [] },
});
const POD = podOf('p');

describe('a credential provider', () => {
  let directory: string;
  let clock: VirtualClock;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'provider-'));
    clock = new VirtualClock();
  });
  afterEach(() => rm(directory, { recursive: true }));

  /** A program that counts its runs and echoes its request. */
  async function provider(answer: string, config = CONFIG): Promise<CredentialProvider> {
    const program = `#!/bin/sh\necho run >> ${directory}/runs\nrequest=$(cat)\n${answer}\n`;
    await writeFile(path.join(directory, 'provider'), program, { mode: 0o755 });
    return new CredentialProvider(parseProviderConfig(config)[0]!, {
      binDirectory: directory,
      clock,
      environment: { PATH: '/usr/bin:/bin' },
      accounts: {
        account: async (namespace, name) => ({
          metadata: { name, namespace, uid: `uid-${name}`, annotations: ANNOTATIONS.get(name) ?? {} },
        }),
        token: async ({ metadata }, audience, accountUid) => `${audience} ${accountUid} ${metadata.name}`,
      },
    });
  }

  async function runs(): Promise<number> {
    const { readFile } = await import('node:fs/promises');
    return (await readFile(path.join(directory, 'runs'), 'utf8')).trim().split('\n').length;
  }

  const response = (extraFields: string) =>
    `echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1",${extraFields}"auth":{"*.example.com":{"username":"'"$WHO $1"'","password":"p"}}}'`;

  test('is asked with its arguments and environment, once for as long as it says', async () => {
    const program = await provider(response('"cacheKeyType":"Registry","cacheDuration":"10s",'));
    expect(program.provides('a.example.com/app')).toBe(true);
    expect(program.provides('example.org/app')).toBe(false);
    const keyring = await program.keyring('a.example.com/app', POD);
    expect(keyring?.lookup('a.example.com/app')).toEqual([{ username: 'me get', password: 'p' }]);
    await program.keyring('a.example.com/other', POD);
    expect(await runs()).toBe(1);
    await program.keyring('b.example.com/app', POD);
    expect(await runs()).toBe(2);
    await clock.advance(10_000);
    await program.keyring('a.example.com/app', POD);
    expect(await runs()).toBe(3);
  });

  test.each([
    ['exit 3', 'failed (3)'],
    ['echo no such account >&2; exit 1', 'no such account'],
    ['echo hello', 'not a CredentialProviderResponse'],
    [response('"cacheKeyType":"World",'), 'cacheKeyType must be Image, Registry or Global'],
    ['head -c 2000000 /dev/zero', 'wrote too much'],
  ])('that does %s fails', async (answer, text) => {
    await expect((await provider(answer)).keyring('a.example.com/app', POD)).rejects.toThrow(text);
  });

  describe('that is given tokens of service accounts', () => {
    const attributes = (cacheType: string, extraFields = '') =>
      `${CONFIG}  tokenAttributes: { serviceAccountTokenAudience: registry, requireServiceAccount: true, cacheType: ${cacheType}${extraFields} }\n`;
    const NEEDS_ROLE = ', requiredServiceAccountAnnotationKeys: [example.com/role]';
    const answer = (password: string) =>
      `text=$(echo "$request" | tr -d '"{}')\necho '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Global","auth":{"*":{"username":"'"$text"'","password":"${password}"}}}'`;
    const usernames = async (program: CredentialProvider, pod: core.Pod) =>
      (await program.keyring('a.example.com/app', pod))
        ?.entries('a.example.com/app')
        .map((entry) => [entry.auth.username, entry.serviceAccount]);

    test('has the token and the annotations it asks for', async () => {
      const program = await provider(answer('p').replace('"*"', '"*.example.com"'), attributes('ServiceAccount', NEEDS_ROLE));
      expect(await usernames(program, podOf('p', 'annotated'))).toEqual([
        [
          'kind:CredentialProviderRequest,apiVersion:credentialprovider.kubelet.k8s.io/v1,image:a.example.com/app,' +
            'serviceAccountToken:registry uid-annotated p,serviceAccountAnnotations:example.com/role:puller',
          { uid: 'uid-annotated', namespace: 'default', name: 'annotated' },
        ],
      ]);
      expect(await usernames(program, podOf('p', 'plain'))).toBeUndefined();
      expect(await usernames(program, podOf('p'))).toBeUndefined();
      expect(await runs()).toBe(1);
    });

    test.each([
      ['ServiceAccount', 2],
      ['Token', 3],
    ])('answers for pods as the cache type %s says', async (cacheType, count) => {
      const program = await provider(answer('p'), attributes(cacheType));
      for (const pod of [podOf('a', 'one'), podOf('b', 'one'), podOf('a', 'one'), podOf('c', 'two')]) await usernames(program, pod);
      expect(await runs()).toBe(count);
    });

    test('may return the token as the password only with the cache type Token', async () => {
      const echo = answer('registry uid-one p');
      await expect(usernames(await provider(echo, attributes('ServiceAccount')), podOf('p', 'one'))).rejects.toThrow('returned the token');
      expect(await usernames(await provider(echo, attributes('Token')), podOf('p', 'one'))).toBeDefined();
    });

    test.each([
      ['cacheType: Token', 'cacheType: Pod', 'cacheType must be ServiceAccount or Token'],
      ['serviceAccountTokenAudience: registry, ', '', 'serviceAccountTokenAudience is required'],
      ['requireServiceAccount: true, ', '', 'requireServiceAccount is required'],
      [
        'apiVersion: credentialprovider.kubelet.k8s.io/v1\n',
        'apiVersion: credentialprovider.kubelet.k8s.io/v1beta1\n',
        'is only supported for',
      ],
      ['requireServiceAccount: true', `requireServiceAccount: false${NEEDS_ROLE}`, 'requireServiceAccount cannot be false'],
    ])('is refused with %s replaced by %s', (from, to, text) => {
      expect(() => parseProviderConfig(attributes('Token').replace(from, to))).toThrow(text);
    });
  });

  test('is configured by the files of a directory, in the order of their names', async () => {
    await writeFile(path.join(directory, 'b.yaml'), CONFIG);
    await writeFile(path.join(directory, 'a.json'), JSON.stringify(parseYaml(CONFIG.replace('name: provider', 'name: first')).value));
    await writeFile(path.join(directory, 'notes.txt'), 'no configuration');
    expect(readProviderConfig(directory).map(({ name }) => name)).toEqual(['first', 'provider']);
    expect(readProviderConfig(path.join(directory, 'b.yaml')).map(({ name }) => name)).toEqual(['provider']);
    await writeFile(path.join(directory, 'c.yml'), CONFIG);
    expect(() => readProviderConfig(directory)).toThrow('duplicate provider name "provider" found in configuration file(s)');
  });

  test("is tried after the pod's secrets, and either may fail", async () => {
    const pod = {
      metadata: { name: 'p', namespace: 'default' },
      spec: { imagePullSecrets: [{ name: 'missing' }, { name: 's' }], containers: [] },
    } as unknown as core.Pod;
    const credentials = new ImageCredentials({
      secret: (_, name) =>
        name === 'missing'
          ? Promise.reject(new Error('not found'))
          : Promise.resolve(
              secret('kubernetes.io/dockerconfigjson', '.dockerconfigjson', '{"auths":{"a.example.com":{"username":"u","password":"p"}}}'),
            ),
      providers: [await provider(response('"cacheKeyType":"Global",'))],
      logger: silentLogger,
    });
    const warnings: string[] = [];
    const events = { warning: (_: string | undefined, reason: string, message: string) => void warnings.push(`${reason} ${message}`) };
    expect(await credentials.of(pod, 'a.example.com/app:1')).toMatchObject([
      { auth: { username: 'u', password: 'p' }, secret: { credentialHash: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      { auth: { username: 'me get', password: 'p' } },
    ]);
    await credentials.reportMissing(pod, events);
    expect(warnings).toEqual([
      'FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (missing); attempting to pull the image may not succeed.',
    ]);
    expect(await credentials.of(pod, 'busybox')).toEqual([{}]);
  });
});
