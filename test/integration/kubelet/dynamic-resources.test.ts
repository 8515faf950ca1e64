import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { core, resource } from '#api';
import { GrpcClient, realClock } from '#base';
import { podResources } from '#kubelet';
import { DraDriver } from '../../dra-driver/dra-driver.ts';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`dynamic resources of real containers are skipped: ${reason}`);

const POLL = { timeout: 40_000, interval: 100 };
const DRIVER = 'dra.example.com';
const key = (name: string) => ({ name, namespace: 'default' });

/** An allocated claim, reserved for a pod by the scheduler. */
async function allocatedClaim(node: RealKubelet, name: string): Promise<void> {
  const claims = node.client.of(resource.ResourceClaim);
  await claims.create({ metadata: key(name), spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } } });
}

async function reserve(node: RealKubelet, name: string, pod: core.Pod): Promise<void> {
  const claims = node.client.of(resource.ResourceClaim);
  const claim = await claims.get(key(name));
  const results = [{ request: 'r', driver: DRIVER, pool: 'pool', device: 'd' }];
  const reservedFor = [{ resource: 'pods', name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '' }];
  await claims.updateStatus({ ...claim, status: { allocation: { devices: { results } }, reservedFor } });
}

async function listed(node: RealKubelet) {
  using client = new GrpcClient({
    endpoint: `unix://${path.join(node.directory, 'kubelet/pod-resources/kubelet.sock')}`,
    clock: realClock,
  });
  return (await client.unary(podResources.ListPodResources, {}, { timeoutMs: 5000 })).podResources;
}

describe.skipIf(reason !== undefined)('a real node with a DRA driver', () => {
  it('has claims prepared before their pods start and released after they end, across a restart', async () => {
    await using node = await openRealKubelet();
    await using driver = new DraDriver({ name: DRIVER, rootDir: path.join(node.directory, 'kubelet') });
    await allocatedClaim(node, 'gpu');
    const container = { name: 'c', image: 'busybox:1', command: ['sleep', '100000'], resources: { claims: [{ name: 'device' }] } };
    const pod = await node.create('user', { resourceClaims: [{ name: 'device', resourceClaimName: 'gpu' }], containers: [container] });
    const refusal = /not allowed to use ResourceClaim gpu/;
    await expect.poll(async () => (await node.events('user')).some((event) => refusal.test(event)), POLL).toBe(true);
    await reserve(node, 'gpu', pod);
    await driver.start();
    await expect.poll(() => node.phase('user'), POLL).toBe('Running');
    expect([driver.registrationError, ...driver.calls]).toEqual(['', 'prepare gpu']);

    await node.stop();
    await node.start();
    await expect.poll(async () => (await listed(node)).length, POLL).toBe(1);
    const [container0] = (await listed(node))[0]?.containers ?? [];
    expect(container0?.dynamicResources).toMatchObject([
      { claimName: 'gpu', claimResources: [{ driverName: DRIVER, deviceName: 'gpu', cdiDevices: [{ name: `${DRIVER}/claim=gpu` }] }] },
    ]);
    await node.client.of(core.Pod).delete(key('user'));
    await expect.poll(() => driver.calls, POLL).toEqual(['prepare gpu', 'unprepare gpu']);
  });

  it('shows the health that the driver reports of devices, and removes what it offered when the kubelet starts without it', async () => {
    await using node = await openRealKubelet();
    const supportedVersions = ['v1.DRAPlugin', 'v1alpha1.DRAResourceHealth'];
    await using driver = new DraDriver({ name: DRIVER, rootDir: path.join(node.directory, 'kubelet'), supportedVersions });
    driver.report('HEALTHY', 'gpu');
    await driver.start();
    await allocatedClaim(node, 'gpu');
    const container = { name: 'c', image: 'busybox:1', command: ['sleep', '100000'], resources: { claims: [{ name: 'device' }] } };
    const pod = await node.create('user', { resourceClaims: [{ name: 'device', resourceClaimName: 'gpu' }], containers: [container] });
    await reserve(node, 'gpu', pod);
    const health = async () => (await node.pod('user')).status?.containerStatuses?.[0]?.allocatedResourcesStatus;
    const reported = (state: string, message?: string) => [
      { name: 'claim:device', resources: [{ resourceID: `${DRIVER}/claim=gpu`, health: state, ...(message && { message }) }] },
    ];
    await expect.poll(health, POLL).toEqual(reported('Healthy', 'it is HEALTHY'));
    driver.report('UNHEALTHY', 'gpu');
    await expect.poll(health, POLL).toEqual(reported('Unhealthy', 'it is UNHEALTHY'));
    // A device that the driver no longer reports.
    driver.report('HEALTHY');
    await expect.poll(health, POLL).toEqual(reported('Unknown'));

    const slices = node.client.of(resource.ResourceSlice);
    const pool = { name: 'pool', generation: 1, resourceSliceCount: 1 };
    const spec = { driver: DRIVER, pool, devices: [{ name: 'gpu' }] };
    await slices.create({ metadata: { name: 'here' }, spec: { ...spec, nodeName: node.nodeName } });
    await slices.create({ metadata: { name: 'elsewhere' }, spec: { ...spec, nodeName: 'other' } });
    await node.stop();
    await node.start();
    await expect.poll(async () => (await slices.list()).items.map(({ metadata }) => metadata.name), POLL).toEqual(['elsewhere']);
    await node.client.of(core.Pod).delete(key('user'));
    await expect.poll(() => driver.calls, POLL).toEqual(['prepare gpu', 'unprepare gpu']);
  });
});
