import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { core, networking, resource } from '#api';
import type { Client } from '#client';
import { servicesStrategy } from '../../registry/core/services.ts';
import type { ApiServer } from '../../server.ts';
import { serveAdmission } from '../admission-server.test-data.ts';

let client: Client;
let server: ApiServer;
beforeAll(async () => {
  ({ client, server } = await serveAdmission(({ subresource, verb }) => subresource === 'binding' || verb.startsWith('arbitrary-node:')));
  await client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'default' } });
});
afterAll(() => server[Symbol.asyncDispose]());

const messageOf = (write: Promise<unknown>) =>
  write.then(
    () => 'accepted',
    (error: Error) => error.message,
  );

describe('claims of devices', () => {
  const claim = (name: string, namespace: string, adminAccess: boolean) => ({
    metadata: { name, namespace },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c.example.com', adminAccess } }] } },
  });

  test('give administrators access only where the namespace allows it', async () => {
    await client.of(core.Namespace).create({ metadata: { name: 'admins', labels: { 'resource.kubernetes.io/admin-access': 'true' } } });
    const claims = client.of(resource.ResourceClaim);
    expect(await messageOf(claims.create(claim('plain', 'default', false)))).toBe('accepted');
    expect(await messageOf(claims.create(claim('admin', 'admins', true)))).toBe('accepted');
    const refusal =
      'spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace';
    expect(await messageOf(claims.create(claim('admin', 'default', true)))).toBe(
      `ResourceClaim.resource.k8s.io "admin" is invalid: ${refusal}`,
    );
    const { metadata, spec } = claim('template', 'default', true);
    expect(await messageOf(client.of(resource.ResourceClaimTemplate).create({ metadata, spec: { spec } }))).toContain(refusal);
  });

  test('are bound only by who may bind', async () => {
    const claims = client.of(resource.ResourceClaim);
    const claim = await claims.get({ name: 'plain', namespace: 'default' });
    const allocation = { devices: { results: [{ request: 'r', driver: 'd.example.com', pool: 'p', device: 'x' }] } };
    const bound = { ...claim, status: { allocation } };
    expect(await messageOf(claims.updateStatus(bound as typeof claim))).toMatch(
      /^ResourceClaim\.resource\.k8s\.io "plain" is invalid: status\.allocation: Forbidden: changing status\.allocation or status\.reservedFor requires resource="resourceclaims\/binding", verb="update" permission: resourceclaims\.resource\.k8s\.io is forbidden: User "tester" cannot update resource "resourceclaims\/binding"/,
    );
    expect(await messageOf(claims.updateStatus(claim))).toBe('accepted');
  });
});

describe('pods on a node', () => {
  test('change what the node must support only where it says that it does', async () => {
    const nodes = client.of(core.Node);
    await nodes.create({ metadata: { name: 'old' } });
    const able = await nodes.create({ metadata: { name: 'able', labels: { 'kubernetes.io/os': 'linux' } } });
    const allocatable = { cpu: '8', memory: '8Gi', pods: '10' };
    const declaredFeatures = ['InPlacePodVerticalScalingInitContainers'];
    await nodes.updateStatus({ ...able, status: { allocatable, capacity: allocatable, declaredFeatures } });
    const resized = async (nodeName: string) => {
      const init = (cpu: string) => [{ name: 'i', image: 'i', resources: { requests: { cpu } } }];
      const spec = { nodeName, containers: [{ name: 'c', image: 'c', resources: { requests: { cpu: '1' } } }], initContainers: init('1') };
      const pod = await client.of(core.Pod).create({ metadata: { name: nodeName, namespace: 'default' }, spec } as never);
      const changed = { ...pod, spec: { ...pod.spec, initContainers: [{ ...pod.spec!.initContainers![0]!, ...init('2')[0] }] } };
      return messageOf(client.of(core.Pod).subresource('resize').update({ name: nodeName, namespace: 'default' }, changed));
    };
    expect(await resized('old')).toContain(
      'pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "old"',
    );
    expect(await resized('able')).toBe('accepted');
  });
});

test('a non-canonical address in a status has a warning', async () => {
  const warnings: string[] = [];
  const status = { loadBalancer: { ingress: [{ ip: '2001:DB8::1' }] } };
  const spec = { defaultBackend: { service: { name: 's', port: { number: 80 } } } };
  const ingress = await client.of(networking.Ingress).create({ metadata: { name: 'i', namespace: 'default' }, spec });
  await client.of(networking.Ingress).updateStatus({ ...ingress, status }, { onWarning: (warning) => warnings.push(warning) });
  const expectedWarnings = [expect.stringContaining('status.loadBalancer.ingress[0]: IPv6 address "2001:DB8::1"')];
  expect(warnings).toEqual(expectedWarnings);
  expect(servicesStrategy.statusWarnings?.({ metadata: { name: 's' }, status })).toEqual(expectedWarnings);
});
