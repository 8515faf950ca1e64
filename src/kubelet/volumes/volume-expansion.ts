import { core } from '#api';
import type { Clock } from '#base';
import type { Client, EventRecorder } from '#client';
import { Quantity } from '#machinery';
import { CsiError } from '../csi/csi-drivers.ts';
import { mergeConditions } from './claim-conditions.ts';
import type { VolumeEntry } from './pod-record.ts';
import { messageOf, type SetUpRequest, type VolumePlugin } from './volume-plugin.ts';

type Claim = core.PersistentVolumeClaim;

export interface VolumeExpansionDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
}

export interface ExpandableVolume {
  readonly plugin: VolumePlugin;
  readonly request: SetUpRequest;
}

const PENDING: readonly (string | undefined)[] = ['NodeResizePending', 'NodeResizeInProgress'];
/** Conditions that show the progress of a resize. */
const RESIZE_CONDITIONS: readonly string[] = ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'];

/** The size that the file system must be expanded to on this node; undefined when nothing is pending. */
export function pendingSize(claim: Claim, { spec }: core.PersistentVolume): string | undefined {
  const size = spec?.capacity?.storage;
  const state = claim.status?.allocatedResourceStatuses?.storage;
  if (size === undefined) return undefined;
  if (PENDING.includes(state)) return size;
  // Older resizers only set a condition.
  const waits = claim.status?.conditions?.some(({ type, status }) => type === 'FileSystemResizePending' && status === 'True') === true;
  return state === undefined && waits && isLarger(size, claim.status?.capacity?.storage ?? '0') ? size : undefined;
}

/** Expands mounted volumes on the node after their controller expansion. */
export async function expandIfPending(
  { plugin, request }: ExpandableVolume,
  { client, recorder, clock }: VolumeExpansionDeps,
): Promise<void> {
  const { spec, pod } = request;
  const { name = '', namespace } = spec.claim?.metadata ?? {};
  if (plugin.expand === undefined || spec.persistentVolume === undefined) return;
  const claims = client.of(core.PersistentVolumeClaim);
  const claim = await claims.get({ name, namespace });
  const persistentVolume = await client.of(core.PersistentVolume).get({ name: spec.persistentVolume.metadata.name });
  const size = claim.metadata.uid === spec.claim?.metadata.uid ? pendingSize(claim, persistentVolume) : undefined;
  if (size === undefined) return;
  const recordEvent = (reason: string, text: string, eventType: 'normal' | 'warning') => {
    for (const object of [pod, claim]) recorder[eventType](object, reason, text);
  };
  if (spec.readOnly) {
    recordEvent(
      'FileSystemResizeFailed',
      `MountVolume.NodeExpandVolume failed for volume "${spec.name}" requested read-only file system`,
      'warning',
    );
    return;
  }
  const saveStatus = (status: object) => claims.patch({ name, namespace }, { status }, { subresource: 'status' });
  const saveFailure = (error: CsiError) =>
    saveStatus({
      // The driver's controller decides what happens next: the claim may request less by then.
      ...(error.isInfeasible && { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } }),
      conditions: mergeConditions(claim, {
        conditions: [{ type: 'NodeResizeError', message: `failed to expand pvc with ${messageOf(error)}` }],
        nowMs: clock.now(),
      }),
    });
  await saveStatus({ allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } });
  try {
    if (!(await plugin.expand({ ...request, spec: { ...spec, persistentVolume } }, Quantity.parse(size).value()))) return;
  } catch (error) {
    recorder.warning(pod, 'VolumeResizeFailed', `NodeExpandVolume.NodeExpandVolume failed for volume "${spec.name}" : ${messageOf(error)}`);
    if (error instanceof CsiError && !error.isUncertain) await saveFailure(error);
    throw error;
  }
  recordEvent(
    'FileSystemResizeSuccessful',
    `MountVolume.NodeExpandVolume succeeded for volume "${spec.name}" ${pod.spec?.nodeName ?? ''}`,
    'normal',
  );
  await saveStatus({
    capacity: { storage: size },
    allocatedResourceStatuses: { storage: null },
    conditions: (claim.status?.conditions ?? []).filter(({ type }) => !RESIZE_CONDITIONS.includes(type)),
  });
}

function isLarger(a: string, b: string): boolean {
  return Quantity.parse(a).compare(Quantity.parse(b)) > 0;
}

export function canGrow({ mounted, plugin, spec }: VolumeEntry): boolean {
  return mounted !== undefined && plugin.expand !== undefined && spec.claim !== undefined;
}
