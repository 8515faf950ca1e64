import type { Clock } from '#base';
import type { VolumeUsage } from '../volumes/pod-volumes.ts';

export interface VolumeUsageCacheDeps {
  readonly clock: Clock;
  measure(podUid: string): Promise<readonly VolumeUsage[]>;
}

interface Measurement {
  readonly sinceMs: number;
  readonly usages: Promise<readonly VolumeUsage[]>;
}

/** The usage of volumes, measured at most once a period for each pod. Entries that are not read for a period are evicted. */
export class VolumeUsageCache {
  readonly #measurements = new Map<string, Measurement>();

  constructor(
    /** 0: measured for each request. Negative: never. */
    private readonly periodMs: number,
    private readonly deps: VolumeUsageCacheDeps,
  ) {}

  async of(podUid: string): Promise<readonly VolumeUsage[]> {
    if (this.periodMs < 0) return [];
    if (this.periodMs === 0) return this.deps.measure(podUid);
    this.#forgetOld();
    const recent = this.#measurements.get(podUid);
    if (recent !== undefined) return recent.usages;
    const usages = this.deps.measure(podUid);
    this.#measurements.set(podUid, { sinceMs: this.deps.clock.monotonic(), usages });
    usages.catch(() => this.#measurements.delete(podUid));
    return usages;
  }

  /** In the order of their age. */
  #forgetOld(): void {
    const oldest = this.deps.clock.monotonic() - this.periodMs;
    for (const [uid, { sinceMs }] of this.#measurements) {
      if (sinceMs > oldest) return;
      this.#measurements.delete(uid);
    }
  }
}
