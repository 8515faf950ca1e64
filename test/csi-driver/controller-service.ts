import { cp, mkdir, open, rm, stat, truncate } from 'node:fs/promises';
import { type Clock, GrpcError, grpcStatus, type MethodEntry } from '#base';
import { csi } from '#kubelet';
import type { DriverState, StoredSnapshot, StoredVolume } from './driver-state.ts';
import { detachLoopDevice } from './loop-devices.ts';
import type { servedMethods } from './service-method.ts';

type Segments = Readonly<Record<string, string>>;

export interface ControllerServiceOptions {
  readonly topology?: Segments | undefined;
  readonly places?: readonly Segments[] | undefined;
  /** The capacity. Default: 1 TiB. */
  readonly capacityBytes?: number | undefined;
}

export interface ControllerServiceDeps {
  readonly state: DriverState;
  readonly clock: Clock;
  readonly method: ReturnType<typeof servedMethods>;
}

const TIB = 2 ** 40;
const CAPABILITIES = [
  ...(['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME', 'GET_CAPACITY', 'CREATE_DELETE_SNAPSHOT'] as const),
  ...(['LIST_SNAPSHOTS', 'CLONE_VOLUME', 'EXPAND_VOLUME', 'SINGLE_NODE_MULTI_WRITER', 'MODIFY_VOLUME'] as const),
];

/** Creates, attaches, expands, modifies and deletes volumes: real directories and files. */
export function controllerService(options: ControllerServiceOptions, deps: ControllerServiceDeps): readonly MethodEntry[] {
  const { state, method } = deps;
  return [
    method(csi.ControllerGetCapabilities, async () => ({ capabilities: CAPABILITIES.map((type) => ({ rpc: { type } })) })),
    method(csi.CreateVolume, (request) => createVolume(request, options, state)),
    method(csi.DeleteVolume, async ({ volumeId }) => {
      required({ volumeId });
      if (state.has(volumeId)) await deleteVolume(state.get(volumeId), state);
      return {};
    }),
    method(csi.ControllerPublishVolume, async ({ volumeId, nodeId, volumeCapability }) => {
      required({ volumeId, nodeId, volumeCapability });
      const volume = state.get(volumeId);
      const others = volume.nodes.filter((node) => node !== nodeId);
      if (volume.exclusive && others.length > 0) throw new GrpcError(grpcStatus.failedPrecondition, `${volumeId} is attached to ${others}`);
      await state.put({ ...volume, nodes: [...others, nodeId] });
      return { publishContext: { device: `/dev/${volumeId}` } };
    }),
    method(csi.ControllerUnpublishVolume, async ({ volumeId, nodeId }) => {
      required({ volumeId });
      if (!state.has(volumeId)) return {};
      const volume = state.get(volumeId);
      await state.put({ ...volume, nodes: volume.nodes.filter((node) => nodeId !== '' && node !== nodeId) });
      return {};
    }),
    method(csi.ControllerExpandVolume, async ({ volumeId, capacityRange }) => {
      required({ volumeId, capacityRange });
      const volume = state.get(volumeId);
      const bytes = Math.max(volume.bytes, capacityRange?.requiredBytes ?? 0);
      if (bytes > (options.capacityBytes ?? TIB)) throw new GrpcError(grpcStatus.outOfRange, `there is no room for ${bytes} bytes`);
      if (volume.backing === 'image') await truncate(state.content(volume), bytes);
      await state.put({ ...volume, bytes });
      return { capacityBytes: bytes, nodeExpansionRequired: volume.backing === 'image' };
    }),
    method(csi.ControllerModifyVolume, async ({ volumeId, mutableParameters }) => {
      required({ volumeId });
      checkMutable(mutableParameters);
      await state.put({ ...state.get(volumeId), mutableParameters });
      return {};
    }),
    method(csi.ValidateVolumeCapabilities, async ({ volumeId, volumeCapabilities, volumeContext, parameters }) => {
      required({ volumeId, volumeCapabilities: volumeCapabilities[0] });
      state.get(volumeId);
      return { confirmed: { volumeCapabilities, volumeContext, parameters } };
    }),
    method(csi.GetCapacity, async ({ accessibleTopology }) => {
      const isHere = Object.entries(accessibleTopology?.segments ?? {}).every(([key, value]) => options.topology?.[key] === value);
      const used = state.all.reduce((sum, { bytes }) => sum + bytes, 0);
      return { availableCapacity: isHere ? Math.max(0, (options.capacityBytes ?? TIB) - used) : 0 };
    }),
    ...snapshotMethods(deps),
  ];
}

function required(members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || value === '') throw new GrpcError(grpcStatus.invalidArgument, `${name} is missing`);
  }
}

function checkMutable(parameters: Readonly<Record<string, string>>): void {
  const unknown = Object.keys(parameters).find((name) => name !== 'iops');
  if (unknown !== undefined) throw new GrpcError(grpcStatus.invalidArgument, `parameter ${unknown} cannot be changed`);
}

type CreateRequest = ReturnType<typeof csi.CreateVolume.request.decode>;

async function createVolume(request: CreateRequest, options: ControllerServiceOptions, state: DriverState) {
  const { capacityBytes = TIB } = options;
  const { name, capacityRange, volumeCapabilities, parameters, volumeContentSource, mutableParameters } = request;
  required({ name, volumeCapabilities: volumeCapabilities[0] });
  checkMutable(mutableParameters);
  const bytes = capacityRange?.requiredBytes ?? 0;
  const { snapshot, volume } = volumeContentSource ?? {};
  const source = snapshot ? `snapshot/${snapshot.snapshotId}` : volume && `volume/${volume.volumeId}`;
  const before = state.all.find((existing) => existing.name === name);
  const exclusive = volumeCapabilities.every(({ accessMode }) => accessMode?.mode?.startsWith('SINGLE_NODE') === true);
  if (before !== undefined && (before.bytes < bytes || before.source !== source || before.exclusive !== exclusive))
    throw new GrpcError(grpcStatus.alreadyExists, `${name} exists with another size, source or access mode`);
  if (bytes > TIB) throw new GrpcError(grpcStatus.outOfRange, `no volume has ${bytes} bytes`);
  if (bytes > capacityBytes) throw new GrpcError(grpcStatus.resourceExhausted, `there is no room for ${bytes} bytes`);
  const place = before?.place ?? placeFor(request, options);
  const isBlock = volumeCapabilities.some(({ block }) => block !== undefined);
  const stored: StoredVolume = before ?? {
    ...{ id: `vol-${name}`, name, bytes, nodes: [], mutableParameters, exclusive },
    backing: isBlock || parameters.backing === 'loop' ? 'image' : 'directory',
    ...(source && { source }),
    ...(place && { place }),
  };
  // The volume exists once the state says so: after a crash before that, the next call replaces what is left.
  if (before === undefined) {
    await fill(stored, state);
    await state.put(stored);
  }
  return {
    volume: {
      ...{ capacityBytes: stored.bytes, volumeId: stored.id, volumeContext: { made: 'here' } },
      ...(volumeContentSource && { contentSource: volumeContentSource }),
      accessibleTopology: place === undefined ? [] : [{ segments: place }],
    },
  };
}

/** The first of its own places among the preferred topologies, then the requisite ones. */
function placeFor({ accessibilityRequirements }: CreateRequest, { topology, places = topology && [topology] }: ControllerServiceOptions) {
  const { preferred = [], requisite = [] } = accessibilityRequirements ?? {};
  if (places === undefined || preferred.length + requisite.length === 0) return places?.[0];
  const isAt = (place: Segments, segments: Segments) => Object.entries(segments).every(([key, value]) => place[key] === value);
  for (const { segments } of [...preferred, ...requisite]) {
    const place = places.find((candidate) => isAt(candidate, segments));
    if (place !== undefined) return place;
  }
  throw new GrpcError(grpcStatus.resourceExhausted, 'there is no room in any of these places');
}

async function fill(volume: StoredVolume, state: DriverState): Promise<void> {
  const content = state.content(volume);
  const [kind, id = ''] = volume.source?.split('/') ?? [];
  await rm(content, { recursive: true, force: true });
  if (kind === 'snapshot' && state.snapshot(id) === undefined) throw new GrpcError(grpcStatus.notFound, `snapshot ${id} does not exist`);
  const from = kind === 'snapshot' ? state.snapshotContent(id) : kind === 'volume' ? state.content(state.get(id)) : undefined;
  if (from !== undefined) await cp(from, content, { recursive: true });
  else if (volume.backing === 'image') await (await open(content, 'w', 0o600)).close();
  else await mkdir(content, { recursive: true, mode: 0o777 });
  if (volume.backing === 'image' && (await stat(content)).size < volume.bytes) await truncate(content, volume.bytes);
}

async function deleteVolume(volume: StoredVolume, state: DriverState): Promise<void> {
  if (volume.nodes.length > 0) throw new GrpcError(grpcStatus.failedPrecondition, `${volume.id} is attached`);
  if (volume.backing === 'image') await detachLoopDevice(state.content(volume));
  await rm(state.content(volume), { recursive: true, force: true });
  await state.remove(volume.id);
}

function snapshotMethods({ state, clock, method }: ControllerServiceDeps): readonly MethodEntry[] {
  return [
    method(csi.CreateSnapshot, async ({ sourceVolumeId, name }) => {
      required({ sourceVolumeId, name });
      const before = state.snapshots.find((snapshot) => snapshot.name === name);
      if (before !== undefined && before.volumeId !== sourceVolumeId)
        throw new GrpcError(grpcStatus.alreadyExists, `snapshot ${name} is of ${before.volumeId}`);
      const volume = state.get(sourceVolumeId);
      const { bytes, backing = 'directory' } = volume;
      const stored = before ?? { id: `snap-${name}`, name, volumeId: sourceVolumeId, bytes, backing, createdMs: clock.now() };
      if (before === undefined) {
        await rm(state.snapshotContent(stored.id), { recursive: true, force: true });
        await cp(state.content(volume), state.snapshotContent(stored.id), { recursive: true });
        await state.putSnapshot(stored);
      }
      return { snapshot: snapshotMessage(stored) };
    }),
    method(csi.DeleteSnapshot, async ({ snapshotId }) => {
      required({ snapshotId });
      await rm(state.snapshotContent(snapshotId), { recursive: true, force: true });
      await state.removeSnapshot(snapshotId);
      return {};
    }),
    method(csi.ListSnapshots, async ({ snapshotId, sourceVolumeId, maxEntries, startingToken }) => {
      const all = state.snapshots.filter(
        ({ id, volumeId }) => (snapshotId === '' || id === snapshotId) && (sourceVolumeId === '' || volumeId === sourceVolumeId),
      );
      const first = Number(startingToken);
      if (!Number.isInteger(first) || first > all.length) throw new GrpcError(grpcStatus.aborted, `${startingToken} is no token of a page`);
      const next = maxEntries > 0 ? first + maxEntries : all.length;
      const entries = all.slice(first, next).map((snapshot) => ({ snapshot: snapshotMessage(snapshot) }));
      return { entries, nextToken: next < all.length ? String(next) : '' };
    }),
  ];
}

function snapshotMessage({ id, volumeId, bytes, createdMs }: StoredSnapshot) {
  const creationTime = { seconds: Math.floor(createdMs / 1000), nanos: (createdMs % 1000) * 1e6 };
  return { snapshotId: id, sourceVolumeId: volumeId, sizeBytes: bytes, creationTime, readyToUse: true };
}
