import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { realClock } from '#base';
import { Credentials } from '../http/credentials.ts';
import { parseKubeconfig } from './kubeconfig.ts';
import { connectionFrom, inClusterConnection, loadConnection } from './load-connection.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sampan-kubeconfig-'));
  await writeFile(join(directory, 'ca.crt'), 'the authority');
  await writeFile(join(directory, 'token'), ' from-file\n');
});
afterAll(() => rm(directory, { recursive: true }));

const config = (text: string) => parseKubeconfig({ path: join(directory, 'config'), text });

const CLUSTER = `
apiVersion: v1
kind: Config
clusters:
- name: local
  cluster: { server: 'https://127.0.0.1:6443', certificate-authority: ca.crt }
contexts:
- name: dev
  context: { cluster: local, user: me, namespace: team }
current-context: dev
`;

describe('a kubeconfig', () => {
  it('gives the connection of its current context, with files beside it', async () => {
    const loaded = await connectionFrom(config(`${CLUSTER}users: [{ name: me, user: { tokenFile: token } }]`));
    expect(loaded).toEqual({
      connection: {
        server: 'https://127.0.0.1:6443',
        ca: 'the authority',
        credentials: { tokenFile: join(directory, 'token') },
      },
      namespace: 'team',
      context: 'dev',
    });
    const credentials = new Credentials(loaded.connection, realClock);
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer from-file' });
  });

  it('prefers data in the file to files it names', async () => {
    const data = Buffer.from('inline').toString('base64');
    const text = `${CLUSTER}users: [{ name: me, user: { client-certificate-data: ${data}, client-certificate: missing, client-key-data: ${data} } }]`;
    const { connection } = await connectionFrom(config(text));
    expect(connection.credentials).toEqual({ cert: 'inline', key: 'inline' });
  });

  it('impersonates', async () => {
    const user = '{ token: t, as: jane, as-groups: [a, b], as-user-extra: { Scopes: [view] } }';
    const { connection } = await connectionFrom(config(`${CLUSTER}users: [{ name: me, user: ${user} }]`));
    expect(await new Credentials(connection, realClock).headers()).toEqual({
      authorization: 'Bearer t',
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-scopes': ['view'],
    });
  });

  it('merges the files of KUBECONFIG, the first to set a value winning, and leaves out missing ones', async () => {
    await writeFile(join(directory, 'one'), 'users: [{ name: me, user: { token: one } }]');
    await writeFile(join(directory, 'two'), `${CLUSTER}users: [{ name: me, user: { token: two } }]`);
    const env = ['missing', 'one', 'two'].map((file) => join(directory, file)).join(':');
    const { connection, context } = await loadConnection({ env });
    expect([connection.credentials, context]).toEqual([{ token: 'one' }, 'dev']);
  });

  const faults: readonly (readonly [string, string, string])[] = [
    ['a context that is not there', 'current-context: nope', 'context "nope" does not exist'],
    ['a cluster that is not there', 'contexts: [{name: a, context: {cluster: c}}]\ncurrent-context: a', 'cluster "c" does not exist'],
    ['a user that is not there', CLUSTER, 'auth info "me" does not exist'],
    ['nothing at all', '', 'no server is configured'],
    [
      'a proxy',
      'clusters: [{name: c, cluster: {server: "https://x", proxy-url: "http://p"}}]\ncontexts: [{name: a, context: {cluster: c}}]\ncurrent-context: a',
      'proxy-url is not supported',
    ],
  ];
  it.each(faults)('says what is wrong with %s', async (_, text, message) => {
    await expect((async () => connectionFrom(config(text)))()).rejects.toThrow(message);
  });

  it('names the file that is no kubeconfig', () => {
    expect(() => config('a: b: c')).toThrow(`error loading config file "${join(directory, 'config')}"`);
    expect(() => config('- a')).toThrow('it is not a mapping');
    expect(() => config('users: [{}]')).toThrow('users[0] has no name');
  });

  it('is not needed within a pod', async () => {
    expect(await inClusterConnection({ host: 'fd00::1', port: '443', directory })).toEqual({
      server: 'https://[fd00::1]:443',
      ca: 'the authority',
      credentials: { tokenFile: join(directory, 'token') },
    });
  });
});

describe('an exec plugin', () => {
  const plugin = (script: string, overrides: object = {}) => ({
    server: 'https://x',
    credentials: {
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', script], baseEnv: {}, ...overrides },
    },
  });
  const answer = (status: object) =>
    `console.log(JSON.stringify({apiVersion:'client.authentication.k8s.io/v1',kind:'ExecCredential',status:${JSON.stringify(status)}}))`;

  it('gives a token, is told about the cluster, and is not run again while the token is good', async () => {
    const script = `const i=JSON.parse(process.env.KUBERNETES_EXEC_INFO);console.log(JSON.stringify({apiVersion:i.apiVersion,status:{token:[i.spec.cluster.server,process.env.A,process.pid].join()}}))`;
    const credentials = new Credentials(plugin(script, { env: [{ name: 'A', value: 'b' }], cluster: { server: 's' } }), realClock);
    const first = await credentials.headers();
    expect(first.authorization).toMatch(/^Bearer s,b,\d+$/);
    expect(await credentials.headers()).toEqual(first);
    expect(credentials.markBadCredentials()).toBe(true);
    expect(await credentials.headers()).not.toEqual(first);
  });

  it('gives a certificate for the handshake', async () => {
    const credentials = new Credentials(plugin(answer({ clientCertificateData: 'c', clientKeyData: 'k' })), realClock);
    expect(await credentials.certificate()).toEqual({ cert: 'c', key: 'k' });
  });

  const faults: readonly (readonly [string, string, object, string])[] = [
    ['that fails', 'process.exit(3)', {}, 'failed with exit code 3'],
    [
      'that is not installed',
      '',
      { command: 'no-such-program', installHint: 'get it there' },
      'exec: executable no-such-program not found\n\nget it there',
    ],
    ['that answers nothing', answer({}), {}, "didn't return a token or cert/key pair"],
    [
      'that answers without end',
      "const write=()=>process.stdout.write('x'.repeat(65536),write);write()",
      {},
      'wrote more than 1048576 bytes',
    ],
    [
      'whose child answers without end',
      "require('child_process').spawn('yes',{stdio:['ignore','inherit','ignore']});setInterval(()=>{},1000)",
      {},
      'wrote more than 1048576 bytes',
    ],
    ['that answers null', 'console.log("null")', {}, 'not an ExecCredential'],
    ['that answers a status of null', answer(null as never), {}, "didn't return a status field"],
    ['that answers a token that is a list', answer({ token: ['a'] }), {}, 'status.token is no string'],
    ['that answers an expiry that is no time', answer({ token: 'a', expirationTimestamp: 'tomorrow' }), {}, 'cannot parse'],
    ['that answers half', answer({ clientKeyData: 'k' }), {}, 'returned only certificate or key'],
    ['that answers no JSON', 'console.log("hi")', {}, 'decoding stdout'],
    ['of an unknown version', '', { apiVersion: 'v0' }, 'invalid apiVersion "v0"'],
    ['that needs a person', '', { interactiveMode: 'Always' }, 'standard input is not a terminal'],
  ];
  it.each(faults)('%s is told of', async (_, script, overrides, message) => {
    await expect(new Credentials(plugin(script, overrides), realClock).headers()).rejects.toThrow(message);
  });
});
