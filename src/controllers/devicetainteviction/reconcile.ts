import type { core, resource } from '#api';
import { parseTime } from '#machinery';
import { isControlledBy } from '../runtime/controller-ref.ts';

type Claim = resource.ResourceClaim;
type Slice = resource.ResourceSlice;
type Result = resource.DeviceRequestAllocationResult;
type Taint = resource.DeviceTaint;

/** The pool that a device is from. */
export function poolKey({ driver, pool }: { readonly driver: string; readonly pool: string }): string {
  return `${driver}/${pool}`;
}

export function allocatedDevices({ status }: Claim): readonly Result[] {
  return status?.allocation?.devices?.results ?? [];
}

/** What is known of pods' claims and of the devices in them. */
export interface DeviceView {
  claim(name: string): Claim | undefined;
  /** The slices that a pool consists of. */
  slices(pool: string): readonly Slice[];
}

/** When a pod has to go because a device that it uses is tainted, in milliseconds; undefined when it may stay. */
export function evictionTime(pod: core.Pod, view: DeviceView): number | undefined {
  if (!pod.spec?.nodeName) return undefined;
  const times = claimsInUse(pod, view).flatMap((claim) =>
    allocatedDevices(claim).flatMap((device) => evictionTimes(device, view.slices(poolKey(device)))),
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The claims that the pod names, that are its own and that are reserved for it. */
function claimsInUse(pod: core.Pod, view: DeviceView): readonly Claim[] {
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const made = pod.status?.resourceClaimStatuses?.find(({ name }) => name === entry.name)?.resourceClaimName;
    const claim = view.claim(entry.resourceClaimName ?? made ?? '');
    if (claim === undefined || (entry.resourceClaimName === undefined && !isControlledBy(claim, pod))) return [];
    return (claim.status?.reservedFor ?? []).some(({ uid }) => uid === pod.metadata.uid) ? [claim] : [];
  });
}

function evictionTimes(device: Result, slices: readonly Slice[]): readonly number[] {
  return noExecuteTaints(device, slices).flatMap((taint) => {
    const tolerated = toleratedMs(taint, device.tolerations ?? []);
    return tolerated === Infinity ? [] : [(taint.timeAdded ? parseTime(taint.timeAdded) : 0) + tolerated];
  });
}

/** Of a pool that is being published anew only the newest generation counts. */
function noExecuteTaints({ device }: Result, slices: readonly Slice[]): readonly Taint[] {
  const newest = Math.max(...slices.map(generationOf));
  const found = slices
    .filter((slice) => generationOf(slice) === newest)
    .flatMap(({ spec }) => spec?.devices ?? [])
    .find(({ name }) => name === device);
  return (found?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

function generationOf({ spec }: Slice): number {
  return Number(spec?.pool?.generation ?? 0);
}

function toleratedMs(taint: Taint, tolerations: readonly resource.DeviceToleration[]): number {
  const matching = tolerations.filter((toleration) => toleration.effect === 'NoExecute' && tolerates(toleration, taint));
  if (matching.length === 0) return 0;
  if (matching.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return Infinity;
  return Math.min(...matching.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds)))) * 1000;
}

function tolerates({ key, operator = 'Equal', value = '' }: resource.DeviceToleration, taint: Taint): boolean {
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || (operator === 'Equal' && value === (taint.value ?? ''));
}
