import { core, type resource } from '#api';
import { maxOf, minOf } from '#base';
import { parseTime } from '#machinery';
import { isControlledBy } from '../runtime/controller-ref.ts';

type Claim = resource.ResourceClaim;
type Slice = resource.ResourceSlice;
type Result = resource.DeviceRequestAllocationResult;
type Taint = resource.DeviceTaint;

/** The key of a device's pool. */
export function poolKey({ driver, pool }: { readonly driver: string; readonly pool: string }): string {
  return `${driver}/${pool}`;
}

export function allocatedDevices({ status }: Claim): readonly Result[] {
  return status?.allocation?.devices?.results ?? [];
}

/** The claims of pods and the devices allocated to them. */
export interface DeviceView {
  claim(name: string): Claim | undefined;
  /** The ResourceSlices of a pool. */
  slices(pool: string): readonly Slice[];
}

/** When the pod is evicted because of tainted devices, in milliseconds; undefined if it is not. */
export function evictionTime(pod: core.Pod, view: DeviceView): number | undefined {
  if (!pod.spec?.nodeName) return undefined;
  const times = claimsInUse(pod, view).flatMap((claim) =>
    allocatedDevices(claim).flatMap((device) => evictionTimes(device, view.slices(poolKey(device)))),
  );
  return times.length === 0 ? undefined : minOf(times);
}

/** The claims that the pod references and that are reserved for it. */
function claimsInUse(pod: core.Pod, view: DeviceView): readonly Claim[] {
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const named = core.resourceClaimOf(pod, entry);
    const claim = typeof named === 'string' ? undefined : view.claim(named.name);
    if (typeof named === 'string' || claim === undefined || (named.isGenerated && !isControlledBy(claim, pod))) return [];
    return (claim.status?.reservedFor ?? []).some(({ uid }) => uid === pod.metadata.uid) ? [claim] : [];
  });
}

function evictionTimes(device: Result, slices: readonly Slice[]): readonly number[] {
  return noExecuteTaints(device, slices).flatMap((taint) => {
    const tolerated = toleratedMs(taint, device.tolerations ?? []);
    return tolerated === Infinity ? [] : [(taint.timeAdded ? parseTime(taint.timeAdded) : 0) + tolerated];
  });
}

/** While a pool is being republished, only its newest generation counts. */
function noExecuteTaints({ device }: Result, slices: readonly Slice[]): readonly Taint[] {
  const newest = maxOf(slices.map(generationOf));
  const taints = slices
    .filter((slice) => generationOf(slice) === newest)
    .flatMap(({ spec }) => spec?.devices ?? [])
    .find(({ name }) => name === device);
  return (taints?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

function generationOf({ spec }: Slice): number {
  return Number(spec?.pool?.generation ?? 0);
}

function toleratedMs(taint: Taint, tolerations: readonly resource.DeviceToleration[]): number {
  const matching = tolerations.filter((toleration) => toleration.effect === 'NoExecute' && core.toleratesTaint(toleration, taint));
  if (matching.length === 0) return 0;
  if (matching.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return Infinity;
  return minOf(matching.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds)))) * 1000;
}
