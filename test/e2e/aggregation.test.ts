import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExtensionServer, extensionServer, GROUP } from '../../src/apiserver/aggregation/extension-server.test-data.ts';
import { freePort } from '../../src/store/contract/free-port.ts';
import { Workplace } from './sampan-process.ts';

let at: Workplace;
let extension: ExtensionServer;
beforeAll(async () => {
  at = new Workplace();
  const { code, stderr } = await at.sampan('up', '--runtime', 'simulated', '-d', '--port', String(await freePort()));
  expect(code, stderr).toBe(0);
  // As extension servers do: the CA and the names of the cluster's front proxies are in a ConfigMap.
  const path = 'jsonpath={.data.requestheader-client-ca-file}';
  const frontProxyAuthority = await at.kubectl('get', '-n', 'kube-system', 'cm', 'extension-apiserver-authentication', '-o', path);
  extension = await extensionServer({ frontProxyAuthority });
  const { code: applied, stderr: problem } = await at.apply(manifest(extension));
  expect(applied, problem).toBe(0);
  await at.kubectl('wait', '--for=condition=Available', `apiservice/v1.${GROUP}`, '--timeout=20s');
});

afterAll(async () => {
  await at.sampan('delete', '--yes');
  await at[Symbol.asyncDispose]();
  await extension?.[Symbol.asyncDispose]();
});

function manifest({ port, authority }: ExtensionServer): string {
  const service = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'fruit', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  };
  const caBundle = Buffer.from(authority.certificate).toString('base64');
  const reference = { name: 'fruit', namespace: 'default', port };
  const spec = { group: GROUP, version: 'v1', groupPriorityMinimum: 10, versionPriority: 5, caBundle, service: reference };
  const api = { kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1', metadata: { name: `v1.${GROUP}` }, spec };
  return JSON.stringify({ kind: 'List', apiVersion: 'v1', items: [service, api] });
}

test('kubectl shows the service of an aggregated API', async () => {
  expect(await at.kubectl('get', 'apiservice', `v1.${GROUP}`, '--no-headers')).toMatch(/default\/fruit\s+True/);
});

test('kubectl finds the resources of an aggregated API, also by their short name', async () => {
  await expect
    .poll(() => at.kubectl('api-resources', `--api-group=${GROUP}`, '--cached=false', '--no-headers'), { timeout: 20_000 })
    .toMatch(/apples\s+ap\s+fruit\.example\.com\/v1\s+true\s+Apple/);
  expect(await at.kubectl('get', 'ap', '-o', 'name')).toBe(`apple.${GROUP}/red`);
  expect(await at.kubectl('get', 'apples', 'red', '-o', 'jsonpath={.kind}')).toBe('Apple');
  expect(extension.requests.findLast(({ path }) => path.endsWith('/apples/red'))?.user).toBe('kubernetes-admin');
});

test.each(['plaintext', 'plaintext-openapiv2'])('kubectl explains an aggregated kind (%s)', async (output) => {
  const text = await at.kubectl('explain', 'apples', `--output=${output}`);
  expect(text).toMatch(/KIND:\s+Apple/);
  expect(text).toContain('An apple, which keeps the doctor away.');
  expect(text).toContain('Its color.');
});

test('requests without permission do not reach an aggregated API server', async () => {
  const before = extension.requests.length;
  const { code, stderr } = await at.run('kubectl', ['get', 'apples', '--as=nobody']);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`User "nobody" cannot list resource "apples" in API group "${GROUP}"`)]);
  expect(extension.requests.slice(before).filter(({ user }) => user === 'nobody')).toEqual([]);
});
