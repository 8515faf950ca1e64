/** A number of replicas that was recommended, or changed by, at a time. */
export interface Sample {
  readonly replicas: number;
  readonly at: number;
}

/** What an autoscaler wanted and did lately. */
export interface ScalingHistory {
  /** As computed from metrics, before anything limits it. */
  readonly recommendations: readonly Sample[];
  /** By how much it scaled up, and down. */
  readonly scaleUps: readonly Sample[];
  readonly scaleDowns: readonly Sample[];
}

export function newHistory(replicas: number, now: number): ScalingHistory {
  return { recommendations: [{ replicas, at: now }], scaleUps: [], scaleDowns: [] };
}

/** The samples with one more, without those that are of no more use to anybody. */
export function withSample(
  samples: readonly Sample[],
  replicas: number,
  { now, keepMs }: { now: number; keepMs: number },
): readonly Sample[] {
  return [...samples.filter(({ at }) => at >= now - keepMs), { replicas, at: now }];
}

/** By how much it scaled within a time until now. */
export function changeWithin(samples: readonly Sample[], periodMs: number, now: number): number {
  return samples.filter(({ at }) => at > now - periodMs).reduce((sum, { replicas }) => sum + replicas, 0);
}
