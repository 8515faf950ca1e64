import { expect, test } from 'vitest';
import { apiregistration, core, discovery } from '#api';
import type { Client } from '#client';
import { serveAdmission } from '../admission/admission-server.test-data.ts';

const NAME = 'v1.things.example.com';
const SERVICE = { name: 'things', namespace: 'default' };
const LABELS = { 'kubernetes.io/service-name': 'things' };

function register(client: Client) {
  const spec = {
    group: 'things.example.com',
    version: 'v1',
    groupPriorityMinimum: 10,
    versionPriority: 5,
    insecureSkipTLSVerify: true,
    service: SERVICE,
  };
  return client.of(apiregistration.APIService).create({ metadata: { name: NAME }, spec });
}

/** The reason that it is not available, once it is another than before. */
async function nextReason(client: Client, before: string | undefined): Promise<string | undefined> {
  for await (const event of client.of(apiregistration.APIService).watch({ sendInitialEvents: true })) {
    if (event.type === 'BOOKMARK' || event.object.metadata.name !== NAME || !event.object.status) continue;
    const [condition] = event.object.status.conditions ?? [];
    if (condition?.reason !== before) return condition && `${condition.status} ${condition.reason}: ${condition.message}`;
  }
  throw new Error('the watch ended first');
}

function slice(ready: boolean) {
  return {
    metadata: { name: 'things-1', namespace: 'default', labels: LABELS },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready } }],
    ports: [{ name: '', port: 8443 }],
  };
}

test('an API that another server is to serve is not available for as long as nobody can answer, and why is told', async () => {
  const { client } = await serveAdmission();
  await register(client);
  expect(await nextReason(client, undefined)).toBe('False ServiceNotFound: service/things in "default" is not present');

  const service = await client.of(core.Service).create({ metadata: SERVICE, spec: { clusterIP: 'None', ports: [{ port: 80 }] } });
  expect(await nextReason(client, 'ServiceNotFound')).toBe(
    'False ServicePortError: service/things in "default" is not listening on port 443',
  );

  await client.of(core.Service).update({ ...service, spec: { ...service.spec, ports: [{ port: 443 }] } });
  const noSlices = 'False EndpointsNotFound: cannot find endpointslices for service/things in "default"';
  expect(await nextReason(client, 'ServicePortError')).toBe(noSlices);

  const made = await client.of(discovery.EndpointSlice).create(slice(false));
  const noneReady = 'False MissingEndpoints: endpointslices for service/things in "default" have no addresses with port name ""';
  expect(await nextReason(client, 'EndpointsNotFound')).toBe(noneReady);

  await client.of(discovery.EndpointSlice).update({ ...made, ...slice(true), metadata: made.metadata });
  expect(await nextReason(client, 'MissingEndpoints')).toBeUndefined();
});
