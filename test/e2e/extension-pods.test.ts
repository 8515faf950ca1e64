import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyPair, loadAuthority, newPrivateKey, privateKeyPem, realClock, signCertificate, systemRandom } from '#base';
import { newAuthority } from '../../src/apiserver/aggregation/extension-server.test-data.ts';
import { RealNode, whyNoContainers } from './real-node.ts';

const reason = whyNoContainers();
const POLL = { timeout: 60_000, interval: 250 };
const ADDRESS = '10.96.200.200';
const ISSUER = `https://${ADDRESS}`;
const HERE = import.meta.dirname;

/** A certificate for the Service: its names and its address. */
function servingCertificate(authority: KeyPair): KeyPair {
  const key = newPrivateKey();
  const now = realClock.now();
  const names = { dnsNames: ['extension.default.svc'], ipAddresses: [ADDRESS] };
  const validity = { notBefore: now - 3_600_000, notAfter: now + 24 * 3_600_000 };
  const usages = { keyUsages: ['digitalSignature' as const], extendedKeyUsages: ['serverAuth' as const] };
  const request = { subject: { commonName: 'extension' }, publicKey: createPublicKey(key), ...names, ...validity, ...usages };
  return { certificate: signCertificate(request, loadAuthority(authority), systemRandom), key: privateKeyPem(key) };
}

/** A token signed by the issuer in the pod. */
function idToken(key: KeyObject, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(realClock.now() / 1000) + 3600;
  const signed = `${part({ alg: 'RS256', kid: 'one' })}.${part({ iss: ISSUER, aud: 'sampan', exp, ...claims })}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

describe.skipIf(reason !== undefined)('extensions of the API that run in pods of a real node', () => {
  const authority = newAuthority('extension-ca');
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const caBundle = Buffer.from(authority.certificate).toString('base64');
  let node: RealNode;

  /** Node and its libraries are the machine's; everything else in the pod is its own. */
  const extensionPod = (frontProxyAuthority: string) => {
    const { certificate, key } = servingCertificate(authority);
    const keys = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] });
    const files = { 'tls.crt': certificate, 'tls.key': key, 'front-proxy.crt': frontProxyAuthority, issuer: ISSUER, keys };
    const program = readFileSync(path.join(HERE, 'extension-program.mjs'), 'utf8');
    const fromMachine = { node: path.dirname(process.execPath), usr: '/usr', lib: '/lib', lib64: '/lib64' };
    const volumes = Object.entries(fromMachine).map(([name, directory]) => ({ name, hostPath: { path: directory } }));
    const mounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}`, readOnly: true }));
    const container = {
      name: 'extension',
      image: 'busybox:1',
      command: [`/node/${path.basename(process.execPath)}`, '/files/program.mjs', '/files'],
      volumeMounts: [...mounts, { name: 'files', mountPath: '/files' }],
      readinessProbe: { tcpSocket: { port: 8443 }, periodSeconds: 1 },
    };
    const spec = {
      containers: [container],
      terminationGracePeriodSeconds: 0,
      volumes: [...volumes, { name: 'files', secret: { secretName: 'extension' } }],
    };
    const metadata = { name: 'extension', labels: { app: 'extension' } };
    return [
      { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'extension' }, stringData: { ...files, 'program.mjs': program } },
      { kind: 'Pod', apiVersion: 'v1', metadata, spec },
      {
        kind: 'Service',
        apiVersion: 'v1',
        metadata: { name: 'extension' },
        spec: { clusterIP: ADDRESS, selector: metadata.labels, ports: [{ port: 443, targetPort: 8443 }] },
      },
    ];
  };

  const applyAll = (items: readonly object[]) => node.apply(JSON.stringify({ kind: 'List', apiVersion: 'v1', items }));
  const service = (path: string) => ({ caBundle, service: { name: 'extension', namespace: 'default', path } });

  beforeAll(async () => {
    node = await RealNode.start();
    const path = 'jsonpath={.data.requestheader-client-ca-file}';
    const frontProxyAuthority = await node.kubectl('get', '-n', 'kube-system', 'cm', 'extension-apiserver-authentication', '-o', path);
    await applyAll(extensionPod(frontProxyAuthority));
    await node.kubectl('wait', '--for=condition=Ready', 'pod/extension', '--timeout=25s');
  }, 180_000);
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
  });

  test('webhooks in a pod change and refuse what is written', async () => {
    const webhook = (name: string, path: string) => ({
      name: `${name}.example.com`,
      clientConfig: service(path),
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    });
    const configuration = (kind: string, ...webhooks: object[]) => ({
      ...{ kind, apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'pods' }, webhooks },
    });
    await applyAll([
      configuration('MutatingWebhookConfiguration', webhook('mutate', '/mutate')),
      configuration('ValidatingWebhookConfiguration', webhook('validate', '/validate')),
    ]);
    await node.kubectl('create', 'configmap', 'allowed', '--from-literal=a=1');
    expect(await node.kubectl('get', 'configmap', 'allowed', '-o', 'jsonpath={.data}')).toBe('{"a":"1","mutated":"by a pod"}');
    const refused = await node.run('kubectl', ['create', 'configmap', 'refused', '--from-literal=forbidden=1']);
    expect(refused).toMatchObject({
      code: 1,
      stderr:
        'Warning: asked a pod\nerror: failed to create configmap: admission webhook "validate.example.com" denied the request: not in this cluster\n',
    });
  });

  test('a conversion webhook in a pod serves every version of a custom resource', async () => {
    const version = (name: string, storage: boolean, size: object) => ({
      ...{ name, storage, served: true },
      schema: { openAPIV3Schema: { type: 'object', properties: { size } } },
    });
    const integer = { type: 'integer' };
    const versions = [
      version('v1', true, { type: 'string' }),
      version('v2', false, { type: 'object', properties: { width: integer, height: integer } }),
    ];
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: service('/convert') } };
    const names = { plural: 'boxes', singular: 'box', kind: 'Box' };
    const spec = { group: 'example.com', scope: 'Namespaced', names, versions, conversion };
    await applyAll([
      { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1', metadata: { name: 'boxes.example.com' }, spec },
    ]);
    await node.kubectl('wait', '--for=condition=Established', 'crd/boxes.example.com', '--timeout=20s');
    const box = { kind: 'Box', apiVersion: 'example.com/v2', metadata: { name: 'small' }, size: { width: 3, height: 4 } };
    await node.apply(JSON.stringify(box));
    expect(await node.kubectl('get', 'boxes.v1.example.com', 'small', '-o', 'jsonpath={.size}')).toBe('3x4');
    expect(await node.kubectl('get', 'boxes.v2.example.com', '-o', 'jsonpath={.items[0].size}')).toBe('{"height":4,"width":3}');
  });

  test('an API that a pod serves is read, watched and upgraded through the API server, until the pod is gone', async () => {
    const reference = { name: 'extension', namespace: 'default' };
    const spec = { group: 'fruit.example.com', version: 'v1', groupPriorityMinimum: 10, versionPriority: 5, caBundle, service: reference };
    await applyAll([{ kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1', metadata: { name: 'v1.fruit.example.com' }, spec }]);
    await node.kubectl('wait', '--for=condition=Available', 'apiservice/v1.fruit.example.com', '--timeout=20s');
    await expect
      .poll(() => node.kubectl('api-resources', '--api-group=fruit.example.com', '-o', 'name'), POLL)
      .toBe('apples.fruit.example.com');
    expect(await node.kubectl('get', 'apples', 'red', '-o', 'jsonpath={.color}')).toBe('red');
    expect(await node.kubectl('get', '--raw', '/apis/fruit.example.com/v1/namespaces/default/apples?watch=true')).toMatch(
      /"type":"ADDED".*"green".*\n.*"type":"MODIFIED".*"red"/,
    );
    expect(await upgraded('/apis/fruit.example.com/v1/namespaces/default/apples/red/echo')).toBe('hello kubernetes-admin\nping\n');

    await node.kubectl('delete', 'pod', 'extension', '--now');
    const condition = (field: string) =>
      node.kubectl('get', 'apiservice', 'v1.fruit.example.com', '-o', `jsonpath={.status.conditions[0].${field}}`);
    await expect.poll(() => condition('reason'), POLL).toBe('MissingEndpoints');
    expect((await node.run('kubectl', ['get', '--raw', '/apis/fruit.example.com/v1'])).stderr).toContain('the server is currently unable');
  });

  /** The data received over an upgraded connection through kubectl proxy. */
  async function upgraded(path: string): Promise<string> {
    const script = `
      const { spawn } = require('node:child_process');
      const proxy = spawn('kubectl', ['proxy', '--port=0', '--reject-paths=^$'], { stdio: ['ignore', 'pipe', 'inherit'] });
      proxy.stdout.once('data', (line) => {
        const port = /:(\\d+)/.exec(line)[1];
        const headers = { connection: 'Upgrade', upgrade: 'echo' };
        require('node:http').get({ port, host: '127.0.0.1', path: ${JSON.stringify(path)}, headers }).on('upgrade', (_, socket, head) => {
          let text = String(head);
          socket.on('data', (data) => { text += data; check(); });
          const check = () => { if (text.includes('ping')) { process.stdout.write(text); proxy.kill(); process.exit(); } };
          socket.write('ping\\n');
        });
      });`;
    return (await node.run(process.execPath, ['-e', script])).stdout;
  }

  test('a pod checks its token with the keys that the API server publishes', async () => {
    const script = `
      const fs = require('node:fs'), https = require('node:https'), crypto = require('node:crypto');
      const directory = '/var/run/secrets/kubernetes.io/serviceaccount/';
      const token = fs.readFileSync(directory + 'token', 'utf8');
      const get = (path) => new Promise((resolve, reject) => https.get('https://' + process.env.KUBERNETES_SERVICE_HOST + path,
        { ca: fs.readFileSync(directory + 'ca.crt'), headers: { authorization: 'Bearer ' + token } }, (response) => {
          let text = ''; response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text)));
        }).on('error', reject));
      (async () => {
        const { issuer, jwks_uri } = await get('/.well-known/openid-configuration');
        const [header, claims, signature] = token.split('.');
        const { kid } = JSON.parse(Buffer.from(header, 'base64url'));
        const key = (await get(new URL(jwks_uri).pathname)).keys.find((key) => key.kid === kid);
        const options = { key: crypto.createPublicKey({ key, format: 'jwk' }) };
        if (key.kty === 'EC') options.dsaEncoding = 'ieee-p1363';
        const valid = crypto.verify('sha256', Buffer.from(header + '.' + claims), options, Buffer.from(signature, 'base64url'));
        console.log(JSON.stringify({ valid, issuer: JSON.parse(Buffer.from(claims, 'base64url')).iss === issuer }));
      })();`;
    await applyAll(extensionPod('').slice(1, 2));
    await node.kubectl('wait', '--for=condition=Ready', 'pod/extension', '--timeout=25s');
    const program = `/node/${path.basename(process.execPath)}`;
    expect(await node.kubectl('exec', 'extension', '--', program, '-e', script)).toBe('{"valid":true,"issuer":true}');
  });

  test('tokens of an issuer that runs in a pod are believed', async () => {
    await node.sampan('down');
    const authorityFile = node.at.path('issuer-ca.crt');
    await node.run('tee', [authorityFile], authority.certificate);
    const flags = [`oidc-issuer-url=${ISSUER}`, 'oidc-client-id=sampan', `oidc-ca-file=${authorityFile}`, 'oidc-username-claim=email'];
    await node.up(...flags.flatMap((flag) => ['--apiserver-arg', flag]));
    await node.kubectl('wait', '--for=condition=Ready', 'pod/extension', '--timeout=25s');
    const token = idToken(privateKey, { email: 'ada@example.com' });
    await node.kubectl('config', 'set-credentials', 'ada', `--token=${token}`);
    const whoAmI = async () =>
      (await node.run('kubectl', ['auth', 'whoami', '--user=ada', '-o', 'jsonpath={.status.userInfo.username}'])).stdout;
    await expect.poll(whoAmI, POLL).toBe('ada@example.com');
  });
});
