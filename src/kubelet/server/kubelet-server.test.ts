import { request } from 'node:https';
import { expect, it } from 'vitest';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client, type Transport } from '#client';
import { withDefaults } from '../configuration/defaults.ts';
import { SimulatedRuntime } from '../cri/simulated/simulated-runtime.ts';
import { AUTHORITY, certificateFor } from './certificates.test-data.ts';
import { kubeletHandler } from './kubelet-handler.ts';
import { startKubeletServer } from './kubelet-server.ts';

function get(port: number, path: string, tls: { ca: string; cert?: string; key?: string }): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false, ...tls }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ code: response.statusCode ?? 0, text });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** An API server that allows one user to read nodes. */
function reviewer(allowedUser: string): Transport {
  const request = async ({ body }: { body?: unknown }) => {
    const { spec } = body as { spec: { user: string; resourceAttributes: object } };
    return { kind: 'SubjectAccessReview', metadata: { name: '' }, status: { allowed: spec.user === allowedUser } };
  };
  return { isLocal: true, request } as unknown as Transport;
}

it('the kubelet server serves authenticated and authorized callers only', async () => {
  const [apiserver, other] = [certificateFor('apiserver', { organizations: ['admins'] }), certificateFor('other')];
  const runtime = new SimulatedRuntime({}, { clock: realClock, random: seededRandom(1) });
  const pods = () => [{ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'default' } }];
  const handle = kubeletHandler({
    nodeName: 'n1',
    runtime,
    logs: { async *read() {} },
    clock: realClock,
    metrics: new MetricsRegistry(),
    flags: new Map([['config', '/etc/kubelet.yaml']]),
    startedMs: realClock.now(),
    configuration: () => withDefaults({}),
    pods,
    problem: () => undefined,
  });
  await using server = startKubeletServer(
    { nodeName: 'n1', host: '127.0.0.1', port: 0, tls: { ...certificateFor('node'), clientCa: AUTHORITY.certificate } },
    { client: new Client(reviewer('apiserver')), clock: realClock, logger: silentLogger, handle },
  );
  await server.ready;
  const as = (caller: { cert: string; key: string }) => ({ ca: AUTHORITY.certificate, ...caller });
  expect(await get(server.port, '/healthz', { ca: AUTHORITY.certificate })).toEqual({ code: 401, text: 'Unauthorized' });
  expect(await get(server.port, '/healthz', as(apiserver))).toEqual({ code: 200, text: 'ok' });
  const longCommand = `/healthz?command=${'a'.repeat(100_000)}`;
  expect(await get(server.port, longCommand, as(apiserver))).toEqual({ code: 200, text: 'ok' });
  expect(await get(server.port, '/pods', as(other))).toEqual({
    code: 403,
    text: 'Forbidden (user=other, verb=get, resource=nodes, subresource(s)=[pods proxy])\n',
  });
  expect(JSON.parse((await get(server.port, '/pods', as(apiserver))).text)).toMatchObject({
    kind: 'PodList',
    items: [{ metadata: { name: 'p' } }],
  });
  expect((await get(server.port, '/containerLogs/default/p/c', as(apiserver))).code).toBe(404);
  expect((await get(server.port, '/flagz', as(apiserver))).text).toContain('\nconfig=/etc/kubelet.yaml\n');
  expect((await get(server.port, '/statusz', as(apiserver))).text).toMatch(/Paths: .*\/configz .*\/statusz/);
  expect((await get(server.port, '/statusz/more', as(apiserver))).code).toBe(404);
  expect((await get(server.port, '/nothing', as(apiserver))).code).toBe(404);
});
