import { core } from '#api';
import type { KubeObject } from '#client';
import { Quantity } from '#machinery';
import { messageOf } from '../../volumes/volume-plugin.ts';
import type { ContentSource } from '../messages.ts';
import type { DriverControllerDeps } from './driver-controller.ts';
import { addFinalizer } from './finalizers.ts';
import { type DataSource, dataSourceOf } from './provision-request.ts';
import { SNAPSHOT, SNAPSHOT_CONTENT, type VolumeSnapshot, type VolumeSnapshotContent } from './snapshot-kinds.ts';
import { CLONE_SOURCE, SNAPSHOT_SOURCE } from './source-protection.ts';

type Claim = core.PersistentVolumeClaim;
type Source<Type extends DataSource['type']> = Extract<DataSource, { readonly type: Type }>;

const ALLOW_MODE_CHANGE = 'snapshot.storage.kubernetes.io/allow-volume-mode-change';
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];
const INVALID_CLAIM = 'claim in dataSource not bound or invalid';

/** What the volume of a claim is filled from. The source is protected from deletion until the claim is no longer pending. */
export async function contentSource(claim: Claim, deps: DriverControllerDeps): Promise<ContentSource | undefined> {
  const source = dataSourceOf(claim);
  if (source.type !== 'snapshot' && source.type !== 'claim') return undefined;
  if (source.namespace !== claim.metadata.namespace)
    throw new Error('dataSourceRef namespace specified but the CrossNamespaceVolumeDataSource feature is disabled');
  if (source.type === 'snapshot') return snapshotSource(claim, source, deps);
  return cloneSource(claim, source, deps);
}

async function cloneSource(claim: Claim, source: Source<'claim'>, deps: DriverControllerDeps): Promise<ContentSource> {
  requireCapability(deps, { capability: 'CLONE_VOLUME', feature: 'clone operations' });
  const claims = deps.client.of(core.PersistentVolumeClaim);
  const volumeId = await withSource('PersistentVolumeClaim', source.name, async () => {
    const original = await claims.get(source);
    checkOriginal(claim, original);
    return handleOf(claim, original, deps);
  });
  await addFinalizer(claims, source, CLONE_SOURCE);
  return { volume: { volumeId } };
}

async function snapshotSource(claim: Claim, source: Source<'snapshot'>, deps: DriverControllerDeps): Promise<ContentSource> {
  requireCapability(deps, { capability: 'CREATE_DELETE_SNAPSHOT', feature: 'snapshot restore' });
  const snapshots = deps.client.resource(SNAPSHOT);
  const snapshotId = await withSource('VolumeSnapshot', source.name, async () => {
    const snapshot = (await snapshots.get(source)) as VolumeSnapshot;
    return snapshotHandle(claim, snapshot, deps);
  });
  await addFinalizer(snapshots, source, SNAPSHOT_SOURCE);
  return { snapshot: { snapshotId } };
}

function requireCapability({ capabilities }: DriverControllerDeps, { capability, feature }: { capability: string; feature: string }): void {
  if (capabilities.has(capability)) return;
  throw new Error(`CSI driver does not support ${feature}: controller ${capability} capability is not reported`);
}

async function withSource<T>(kind: string, name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new Error(`error getting handle for DataSource Type ${kind} by Name ${name}: ${messageOf(error)}`, { cause: error });
  }
}

function checkOriginal(claim: Claim, original: Claim): void {
  const { name } = original.metadata;
  if (original.status?.phase !== 'Bound')
    throw new Error(`the PVC DataSource ${name} must have a status of Bound.  Got ${original.status?.phase}`);
  if (isEnding(original, CLONE_SOURCE)) throw new Error(`the PVC DataSource ${name} is currently being deleted`);
  if (!original.spec?.storageClassName) throw new Error(`the source PVC (${name}) storageclass cannot be empty`);
  const [size, originalSize] = [requestedBytes(claim), requestedBytes(original)];
  if (size < originalSize)
    throw new Error(
      `error, new PVC request must be greater than or equal in size to the specified PVC data source, requested ${size} but source is ${originalSize}`,
    );
}

async function handleOf(claim: Claim, { metadata, spec }: Claim, { client, driver }: DriverControllerDeps): Promise<string> {
  const volume = await client.of(core.PersistentVolume).get({ name: spec?.volumeName ?? '' });
  const { csi, claimRef, volumeMode: mode = 'Filesystem' } = volume.spec ?? {};
  const isBound = claimRef?.uid === metadata.uid && volume.status?.phase === 'Bound';
  if (csi?.driver !== driver.name || !isBound) throw new Error(INVALID_CLAIM);
  const requested = claim.spec?.volumeMode ?? 'Filesystem';
  if (requested !== mode)
    throw new Error(
      `the source PVC and destination PVCs must have the same volume mode for cloning.  Source is ${mode}, but new PVC requested ${requested}`,
    );
  return csi.volumeHandle;
}

async function snapshotHandle(claim: Claim, snapshot: VolumeSnapshot, { client, driver }: DriverControllerDeps): Promise<string> {
  const { name, uid } = snapshot.metadata;
  if (isEnding(snapshot, SNAPSHOT_SOURCE)) throw new Error(`snapshot ${name} is being deleted`);
  const { boundVolumeSnapshotContentName: contentName, readyToUse, restoreSize } = snapshot.status ?? {};
  if (!contentName) throw new Error(`snapshot ${name} not bound`);
  const content = (await client.resource(SNAPSHOT_CONTENT).get({ name: contentName })) as VolumeSnapshotContent;
  const subject = `snapshotcontent ${contentName} for snapshot ${name}`;
  if (content.spec.volumeSnapshotRef.uid !== uid) throw new Error(`${subject} is bound to a different snapshot`);
  if (content.spec.driver !== driver.name)
    throw new Error(`${subject} is not handled by CSI driver of StorageClass ${claim.spec?.storageClassName ?? ''}`);
  if (readyToUse !== true) throw new Error(`snapshot ${name} is not Ready`);
  const handle = content.status?.snapshotHandle;
  if (!handle) throw new Error(`snapshot handle ${name} is not available`);
  const [size, snapshotSize] = [requestedBytes(claim), Quantity.parse(restoreSize ?? '0').value()];
  if (size < snapshotSize)
    throw new Error(`requested volume size ${size} is less than the size ${snapshotSize} for the source snapshot ${name}`);
  checkModeChange(claim, content);
  return handle;
}

/** Only users who may create contents may convert the volume mode: kernels do not expect file systems written by users. */
function checkModeChange({ metadata, spec }: Claim, { metadata: content, spec: { sourceVolumeMode } }: VolumeSnapshotContent): void {
  if (sourceVolumeMode === undefined || sourceVolumeMode === (spec?.volumeMode ?? 'Filesystem')) return;
  const allowed = content.annotations?.[ALLOW_MODE_CHANGE];
  if (allowed !== undefined && TRUE.includes(allowed)) return;
  const subject = `requested volume ${metadata.namespace}/${metadata.name} modifies the mode of the source volume but does not have permission to do so.`;
  if (allowed === undefined)
    throw new Error(`${subject} ${ALLOW_MODE_CHANGE} annotation is not present on snapshotcontent ${content.name}`);
  if (FALSE.includes(allowed)) throw new Error(`${subject} ${ALLOW_MODE_CHANGE} is set to false on snapshotcontent ${content.name}`);
  const cause = `strconv.ParseBool: parsing ${JSON.stringify(allowed)}: invalid syntax`;
  throw new Error(`${subject} failed to convert ${ALLOW_MODE_CHANGE} annotation value to boolean with error: ${cause}`);
}

/** With the finalizer the driver may have started: the request must be repeated until its outcome is certain. */
function isEnding({ metadata }: Pick<KubeObject, 'metadata'>, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(finalizer);
}

function requestedBytes({ spec }: Claim): number {
  return Quantity.parse(spec?.resources?.requests?.storage ?? '0').value();
}
