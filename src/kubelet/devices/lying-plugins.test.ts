import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  GrpcClient,
  type GrpcError,
  GrpcServer,
  grpcStatus,
  type MethodEntry,
  realClock,
  silentLogger,
  streamingMethod,
  unaryMethod,
} from '#base';
import { StateFile } from '../resources/state-file.ts';
import { DeviceManager, type DeviceState } from './device-manager.ts';
import { startDeviceRegistration } from './device-registration.ts';
import { Allocate, DEVICE_API_VERSION, GetPreferredAllocation, HEALTHY, ListAndWatch, Register } from './messages.ts';

const RESOURCE = 'example.com/liar';
let directory: string;
let devices: DeviceManager;
let registration: AsyncDisposable;
let file: CountedFile;
const plugins: GrpcServer[] = [];

/** Counts the pending state writes. */
class CountedFile extends StateFile<DeviceState> {
  waiting = 0;
  most = 0;

  override async write(state: DeviceState): Promise<void> {
    this.most = Math.max(this.most, ++this.waiting);
    await super.write(state);
    this.waiting--;
  }
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sampan-plugins-'));
  file = new CountedFile(join(directory, 'checkpoint'));
  devices = new DeviceManager({ clock: realClock, logger: silentLogger, file, numaNodes: [0, 1], onChange: () => {} });
  await devices.open();
  registration = await startDeviceRegistration(directory, devices, silentLogger);
});
afterEach(async () => {
  await devices[Symbol.asyncDispose]();
  await registration[Symbol.asyncDispose]();
  for (const plugin of plugins.splice(0)) await plugin[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

type DeviceList = Parameters<typeof ListAndWatch.response.encode>[0];

async function startPlugin(lists: () => AsyncIterable<DeviceList>, methods: readonly MethodEntry[] = []): Promise<void> {
  const endpoint = `unix://${join(directory, 'liar.sock')}`;
  const watch = streamingMethod(ListAndWatch, (_, { signal }) => untilGone(lists(), signal));
  plugins.push(await GrpcServer.start({ endpoint, methods: [watch, ...methods] }));
}

async function* untilGone<T>(values: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  for await (const value of values) yield value;
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function register(resourceName = RESOURCE, endpoint = 'liar.sock'): Promise<void> {
  using client = new GrpcClient({ endpoint: `unix://${join(directory, 'kubelet.sock')}`, clock: realClock });
  const options = { preStartRequired: false, getPreferredAllocationAvailable: true };
  await client.unary(Register, { version: DEVICE_API_VERSION, endpoint, resourceName, options }, { timeoutMs: 5000 });
}

async function* once(list: DeviceList): AsyncGenerator<DeviceList> {
  yield list;
}
const healthy = (id: string, nodes: readonly { readonly id: number }[] = []) => ({ id, health: HEALTHY, topology: { nodes } });
const capacity = () => devices.nodeResources.capacity[RESOURCE];
const container = { name: 'c', image: 'i', resources: { limits: { [RESOURCE]: '1' } } };
const pod = { metadata: { name: 'p', namespace: 'default', uid: 'u' } };

test('a device plugin that floods the kubelet with device lists waits until each is on disk', async () => {
  const total = 300;
  async function* flood(): AsyncGenerator<DeviceList> {
    for (let i = 1; i <= total; i++) yield { devices: Array.from({ length: i }, (_, n) => healthy(`d${n}`)) };
  }
  await startPlugin(flood);
  await register();
  await expect.poll(capacity, { timeout: 20_000 }).toBe(String(total));
  expect(file.most).toBe(1);
});

test('a list of more devices than four megabytes hold ends the watch of the plugin', async () => {
  let isOver = false;
  async function* huge(): AsyncGenerator<DeviceList> {
    yield { devices: [healthy('one')] };
    try {
      yield { devices: Array.from({ length: 600_000 }, () => ({ id: 'd', health: HEALTHY })) };
    } finally {
      isOver = true;
    }
  }
  await startPlugin(huge);
  await register();
  await expect.poll(() => isOver, { timeout: 20_000 }).toBe(true);
  await expect.poll(() => devices.nodeResources.allocatable[RESOURCE], { timeout: 20_000 }).toBe('0');
  expect(capacity()).toBe('1');
});

test('devices on NUMA nodes that the machine lacks count as devices without topology', async () => {
  await startPlugin(() => once({ devices: [healthy('a', [{ id: 32 }]), healthy('b', [{ id: -1 }]), healthy('c', [{ id: 2 ** 53 }])] }));
  await register();
  await expect.poll(capacity).toBe('3');
  expect(devices.healthy.map(({ numaNodes }) => numaNodes)).toEqual([[], [], []]);
});

test('a preferred device that was not offered is replaced by a free one', async () => {
  const preferred = unaryMethod(GetPreferredAllocation, () => ({ containerResponses: [{ deviceIds: ['__proto__'] }] }));
  const allocate = unaryMethod(Allocate, () => ({ containerResponses: [{ envs: { ['__proto__']: 'x' } }] }));
  await startPlugin(() => once({ devices: [healthy('a')] }), [preferred, allocate]);
  await register();
  await expect.poll(capacity).toBe('1');
  await devices.allocate(pod, container, { nodes: undefined, isPreferred: true });
  expect(devices.devicesOf('u').get('c')).toMatchObject([{ deviceIds: ['a'] }]);
  expect(JSON.parse(await readFile(file.path, 'utf8'))).toMatchObject({ registered: { [RESOURCE]: ['a'] } });
});

test('an empty allocation response only fails that allocation', async () => {
  const preferred = unaryMethod(GetPreferredAllocation, () => ({ containerResponses: [] }));
  const allocate = unaryMethod(Allocate, () => ({ containerResponses: [] }));
  await startPlugin(() => once({ devices: [healthy('a')] }), [preferred, allocate]);
  await register();
  await expect.poll(capacity).toBe('1');
  await expect(devices.allocate(pod, container, { nodes: undefined, isPreferred: true })).rejects.toThrow('answered nothing');
  expect(devices.podUids).toEqual([]);
});

test('plugins with more than a thousand resources are rejected', async () => {
  using client = new GrpcClient({ endpoint: `unix://${join(directory, 'kubelet.sock')}`, clock: realClock });
  const pluginPod = (i: number) =>
    client
      .unary(Register, { version: DEVICE_API_VERSION, endpoint: 'nobody.sock', resourceName: `example.com/r${i}` }, { timeoutMs: 5000 })
      .then(
        () => grpcStatus.ok,
        (error: GrpcError) => error.status,
      );
  const statuses: number[] = [];
  for (let i = 0; i < 1001; i++) statuses.push(await pluginPod(i));
  expect(statuses.slice(-2)).toEqual([grpcStatus.ok, grpcStatus.resourceExhausted]);
});
