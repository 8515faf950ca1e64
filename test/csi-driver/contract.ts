import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GrpcClient, GrpcError, grpcStatus, type Method, realClock } from '#base';
import { csi, hostMounter } from '#kubelet';

export interface DriverUnderTest extends AsyncDisposable {
  /** As clients name it: `unix:///…`. */
  readonly endpoint: string;
  readonly nodeId: string;
}

const MIB = 2 ** 20;
const WRITER = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;
const ABSENT = 'no-such-volume';

/** A call that a driver must answer with an error, or with success. */
interface Case {
  readonly rule: string;
  readonly status: number;
  call(contract: Contract): Promise<unknown>;
}

/**
 * The requirements of the Container Storage Interface, version 1, for every driver: run against our test driver. Mounts, so it needs root.
 */
export function csiContract(title: string, start: (root: string) => Promise<DriverUnderTest>): void {
  describe(title, () => {
    let contract: Contract;
    beforeAll(async () => {
      contract = await Contract.open(start);
    });
    afterAll(() => contract?.[Symbol.asyncDispose]());

    it('has a name and says what it can do', () => identifies(contract));
    it.each(missingMembers())('$rule', ({ call, status }) => expectStatus(call(contract), status));
    it.each(absentVolumes())('$rule', ({ call, status }) => expectStatus(call(contract), status));
    it.each(conflicts())('$rule', ({ call, status }) => expectStatus(call(contract), status));
    it('takes a volume through its life, each step as often as it is called', () => repeatsEveryStep(contract));
    it('makes volumes within the limits of the request', () => keepsLimits(contract));
    it('lists snapshots page by page', () => listsPages(contract));
    it.each(['csi.v1.Controller/ListVolumes', 'csi.v1.Controller/ControllerGetVolume', 'csi.v1.GroupController/CreateVolumeGroupSnapshot'])(
      'does not implement %s, which it does not offer',
      (name) => expectStatus(contract.call({ name, request: csi.NOTHING, response: csi.NOTHING }, {}), grpcStatus.unimplemented),
    );
  });
}

async function expectStatus(answer: Promise<unknown>, status: number): Promise<void> {
  const outcome = await answer.then(
    () => grpcStatus.ok,
    (error: unknown) => (error instanceof GrpcError ? error.status : error),
  );
  expect(outcome).toBe(status);
}

class Contract implements AsyncDisposable {
  readonly #client: GrpcClient;

  private constructor(
    readonly root: string,
    readonly driver: DriverUnderTest,
  ) {
    this.#client = new GrpcClient({ endpoint: driver.endpoint, clock: realClock });
  }

  static async open(start: (root: string) => Promise<DriverUnderTest>): Promise<Contract> {
    const root = await mkdtemp(join(tmpdir(), 'csi-contract-'));
    return new Contract(root, await start(root));
  }

  call<Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> {
    return this.#client.unary(method, request, { timeoutMs: 30_000 });
  }

  /** Calls twice; both responses must be equal. */
  async repeat<Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> {
    const first = await this.call(method, request);
    expect(await this.call(method, request), method.name).toEqual(first);
    return first;
  }

  async volume(name: string, { bytes = MIB, mode = WRITER }: { bytes?: number; mode?: object } = {}): Promise<string> {
    const request = { name, capacityRange: { requiredBytes: bytes }, volumeCapabilities: [mode] };
    return (await this.call(csi.CreateVolume, request as never)).volume?.volumeId ?? '';
  }

  path(...names: readonly string[]): string {
    return join(this.root, ...names);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
    await this.driver[Symbol.asyncDispose]();
    const mounter = hostMounter();
    const left = (await mounter.mountsBelow(this.root)).map(({ path }) => path);
    await mounter.unmount(...left.toReversed());
    await rm(this.root, { recursive: true });
    expect(left).toEqual([]);
  }
}

async function identifies(contract: Contract): Promise<void> {
  const { name, vendorVersion } = await contract.call(csi.GetPluginInfo, {});
  expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9.-]{0,61}[A-Za-z0-9]$/);
  expect(vendorVersion).not.toBe('');
  expect((await contract.call(csi.Probe, {})).ready?.value).toBe(true);
  const { capabilities } = await contract.call(csi.GetPluginCapabilities, {});
  expect(capabilities.map(({ service }) => service?.type)).toContain('CONTROLLER_SERVICE');
  expect((await contract.call(csi.NodeGetInfo, {})).nodeId).toBe(contract.driver.nodeId);
  expect((await contract.call(csi.ControllerGetCapabilities, {})).capabilities).not.toEqual([]);
  expect((await contract.call(csi.NodeGetCapabilities, {})).capabilities).not.toEqual([]);
}

/** Valid requests without one of the required fields each. */
function missingMembers(): readonly Case[] {
  const complete: readonly [Method<never, unknown>, Readonly<Record<string, unknown>>][] = [
    [csi.CreateVolume, { name: 'x', volumeCapabilities: [WRITER] }],
    [csi.DeleteVolume, { volumeId: ABSENT }],
    [csi.ControllerPublishVolume, { volumeId: ABSENT, nodeId: 'n', volumeCapability: WRITER }],
    [csi.ControllerUnpublishVolume, { volumeId: ABSENT }],
    [csi.ValidateVolumeCapabilities, { volumeId: ABSENT, volumeCapabilities: [WRITER] }],
    [csi.CreateSnapshot, { sourceVolumeId: ABSENT, name: 's' }],
    [csi.DeleteSnapshot, { snapshotId: ABSENT }],
    [csi.ControllerExpandVolume, { volumeId: ABSENT, capacityRange: { requiredBytes: MIB } }],
    [csi.ControllerModifyVolume, { volumeId: ABSENT }],
    [csi.NodeStageVolume, { volumeId: ABSENT, stagingTargetPath: '/nowhere', volumeCapability: WRITER }],
    [csi.NodeUnstageVolume, { volumeId: ABSENT, stagingTargetPath: '/nowhere' }],
    [csi.NodePublishVolume, { volumeId: ABSENT, targetPath: '/nowhere', volumeCapability: WRITER }],
    [csi.NodeUnpublishVolume, { volumeId: ABSENT, targetPath: '/nowhere' }],
    [csi.NodeGetVolumeStats, { volumeId: ABSENT, volumePath: '/nowhere' }],
    [csi.NodeExpandVolume, { volumeId: ABSENT, volumePath: '/nowhere' }],
  ] as never;
  return complete.flatMap(([method, request]) =>
    Object.keys(request).map((member) => ({
      rule: `${method.name} without ${member} is an invalid argument`,
      status: grpcStatus.invalidArgument,
      call: (contract: Contract) => contract.call(method, { ...request, [member]: undefined } as never),
    })),
  );
}

/** Removing something missing succeeds; using it does not. */
function absentVolumes(): readonly Case[] {
  const { ok, notFound } = grpcStatus;
  const cases: readonly [string, number, (contract: Contract) => Promise<unknown>][] = [
    ['DeleteVolume', ok, (contract) => contract.call(csi.DeleteVolume, { volumeId: ABSENT })],
    ['ControllerUnpublishVolume', ok, (contract) => contract.call(csi.ControllerUnpublishVolume, { volumeId: ABSENT, nodeId: 'n' })],
    ['DeleteSnapshot', ok, (contract) => contract.call(csi.DeleteSnapshot, { snapshotId: ABSENT })],
    [
      'ControllerPublishVolume',
      notFound,
      (contract) =>
        contract.call(csi.ControllerPublishVolume, { volumeId: ABSENT, nodeId: contract.driver.nodeId, volumeCapability: WRITER } as never),
    ],
    [
      'ValidateVolumeCapabilities',
      notFound,
      (contract) => contract.call(csi.ValidateVolumeCapabilities, { volumeId: ABSENT, volumeCapabilities: [WRITER] } as never),
    ],
    [
      'ControllerExpandVolume',
      notFound,
      (contract) => contract.call(csi.ControllerExpandVolume, { volumeId: ABSENT, capacityRange: { requiredBytes: MIB } } as never),
    ],
    ['ControllerModifyVolume', notFound, (contract) => contract.call(csi.ControllerModifyVolume, { volumeId: ABSENT })],
    ['CreateSnapshot', notFound, (contract) => contract.call(csi.CreateSnapshot, { sourceVolumeId: ABSENT, name: 'of-nothing' })],
    [
      'NodeStageVolume',
      notFound,
      (contract) =>
        contract.call(csi.NodeStageVolume, { volumeId: ABSENT, stagingTargetPath: contract.path('s'), volumeCapability: WRITER } as never),
    ],
    [
      'NodePublishVolume',
      notFound,
      (contract) =>
        contract.call(csi.NodePublishVolume, {
          ...{ volumeId: ABSENT, stagingTargetPath: contract.path('s'), targetPath: contract.path('t'), volumeCapability: WRITER },
        } as never),
    ],
    ['NodeExpandVolume', notFound, (contract) => contract.call(csi.NodeExpandVolume, { volumeId: ABSENT, volumePath: contract.path('t') })],
    [
      'NodeGetVolumeStats',
      notFound,
      (contract) => contract.call(csi.NodeGetVolumeStats, { volumeId: ABSENT, volumePath: contract.path('t') }),
    ],
    ...(['snapshot', 'volume'] as const).map((kind): [string, number, (contract: Contract) => Promise<unknown>] => [
      `CreateVolume from a ${kind}`,
      notFound,
      (contract) =>
        contract.call(csi.CreateVolume, {
          ...{ name: `from-${kind}`, volumeCapabilities: [WRITER] },
          volumeContentSource: { [kind]: { [`${kind}Id`]: ABSENT } },
        } as never),
    ]),
  ];
  const outcome = (status: number) => (status === ok ? 'succeeds' : 'is not found');
  return cases.map(([name, status, call]) => ({ rule: `${name} that does not exist ${outcome(status)}`, status, call }));
}

function conflicts(): readonly Case[] {
  return [
    {
      rule: 'a second volume of a name with another size already exists',
      status: grpcStatus.alreadyExists,
      call: async (contract) => {
        await contract.volume('twice');
        return contract.volume('twice', { bytes: 2 * MIB });
      },
    },
    {
      rule: 'a second volume of a name with other capabilities already exists',
      status: grpcStatus.alreadyExists,
      call: async (contract) => {
        await contract.volume('modes');
        return contract.volume('modes', { mode: { mount: {}, accessMode: { mode: 'MULTI_NODE_MULTI_WRITER' } } });
      },
    },
    {
      rule: 'a volume that is larger than anything is out of range',
      status: grpcStatus.outOfRange,
      call: (contract) => contract.volume('vast', { bytes: 2 ** 50 }),
    },
    {
      rule: 'a snapshot of a name, of another volume, already exists',
      status: grpcStatus.alreadyExists,
      call: async (contract) => {
        const [a, b] = [await contract.volume('snapped-a'), await contract.volume('snapped-b')];
        await contract.call(csi.CreateSnapshot, { sourceVolumeId: a, name: 'same' });
        return contract.call(csi.CreateSnapshot, { sourceVolumeId: b, name: 'same' });
      },
    },
    {
      rule: 'a volume of one node is not attached to a second one',
      status: grpcStatus.failedPrecondition,
      call: async (contract) => {
        const volumeId = await contract.volume('attached');
        const attach = (nodeId: string) =>
          contract.call(csi.ControllerPublishVolume, { volumeId, nodeId, volumeCapability: WRITER } as never);
        await attach(contract.driver.nodeId);
        return attach('another-node').finally(() => contract.call(csi.ControllerUnpublishVolume, { volumeId, nodeId: '' }));
      },
    },
  ];
}

async function repeatsEveryStep(contract: Contract): Promise<void> {
  const { nodeId } = contract.driver;
  const request = { name: 'life', capacityRange: { requiredBytes: MIB }, volumeCapabilities: [WRITER] } as never;
  const volumeId = (await contract.repeat(csi.CreateVolume, request)).volume?.volumeId ?? '';
  const [stagingTargetPath, targetPath] = [contract.path('staging'), contract.path('published')];
  await mkdir(stagingTargetPath);
  const own = { volumeId, volumeCapability: WRITER } as never as object;
  await contract.repeat(csi.ControllerPublishVolume, { ...own, nodeId } as never);
  await contract.repeat(csi.NodeStageVolume, { ...own, stagingTargetPath } as never);
  await contract.repeat(csi.NodePublishVolume, { ...own, stagingTargetPath, targetPath } as never);
  const isMounted = (path: string) => hostMounter().isMountPoint(path);
  expect(await isMounted(targetPath)).toBe(true);
  await expectStatus(
    contract.call(csi.NodePublishVolume, { ...own, stagingTargetPath, targetPath, readonly: true } as never),
    grpcStatus.alreadyExists,
  );
  expect((await contract.call(csi.NodeGetVolumeStats, { volumeId, volumePath: targetPath })).usage.length).toBeGreaterThan(0);
  const larger = { volumeId, capacityRange: { requiredBytes: 2 * MIB } };
  expect((await contract.repeat(csi.ControllerExpandVolume, larger as never)).capacityBytes).toBeGreaterThanOrEqual(2 * MIB);
  await contract.repeat(csi.NodeExpandVolume, { volumeId, volumePath: targetPath });
  await contract.repeat(csi.CreateSnapshot, { sourceVolumeId: volumeId, name: 'life' });
  await contract.repeat(csi.NodeUnpublishVolume, { volumeId, targetPath });
  await contract.repeat(csi.NodeUnstageVolume, { volumeId, stagingTargetPath });
  expect([await isMounted(targetPath), await isMounted(stagingTargetPath)]).toEqual([false, false]);
  await contract.repeat(csi.ControllerUnpublishVolume, { volumeId, nodeId });
  await contract.repeat(csi.DeleteVolume, { volumeId });
  const { entries } = await contract.call(csi.ListSnapshots, { sourceVolumeId: volumeId });
  const snapshotId = entries[0]?.snapshot?.snapshotId ?? '';
  await contract.repeat(csi.DeleteSnapshot, { snapshotId });
  expect((await contract.call(csi.ListSnapshots, { snapshotId })).entries).toEqual([]);
}

async function keepsLimits(contract: Contract): Promise<void> {
  const range = { requiredBytes: MIB, limitBytes: 3 * MIB };
  const request = { name: 'limited', capacityRange: range, volumeCapabilities: [WRITER] } as never;
  const bytes = (await contract.call(csi.CreateVolume, request)).volume?.capacityBytes ?? 0;
  expect(bytes === 0 || (bytes >= range.requiredBytes && bytes <= range.limitBytes)).toBe(true);
}

async function listsPages(contract: Contract): Promise<void> {
  const sourceVolumeId = await contract.volume('paged');
  for (const name of ['page-1', 'page-2', 'page-3']) await contract.call(csi.CreateSnapshot, { sourceVolumeId, name });
  const ids = new Set<string>();
  let startingToken = '';
  do {
    const page = await contract.call(csi.ListSnapshots, { sourceVolumeId, maxEntries: 2, startingToken });
    expect(page.entries.length).toBeLessThanOrEqual(2);
    for (const { snapshot } of page.entries) ids.add(snapshot?.snapshotId ?? '');
    startingToken = page.nextToken;
  } while (startingToken !== '');
  expect(ids.size).toBe(3);
  await expectStatus(contract.call(csi.ListSnapshots, { startingToken: 'no token of this driver' }), grpcStatus.aborted);
}
