/** A recommended number of replicas, or a change, with its time. */
export interface Sample {
  readonly replicas: number;
  readonly at: number;
}

/** Recent recommendations and scaling events of an autoscaler. */
export interface ScalingHistory {
  /** As computed from metrics, before limits. */
  readonly recommendations: readonly Sample[];
  /** Replicas added and removed. */
  readonly scaleUps: readonly Sample[];
  readonly scaleDowns: readonly Sample[];
}

export function newHistory(replicas: number, now: number): ScalingHistory {
  return { recommendations: [{ replicas, at: now }], scaleUps: [], scaleDowns: [] };
}

/** The samples with a new one, without expired ones. */
export function withSample(
  samples: readonly Sample[],
  replicas: number,
  { now, keepMs }: { now: number; keepMs: number },
): readonly Sample[] {
  return [...samples.filter(({ at }) => at >= now - keepMs), { replicas, at: now }];
}

/** The total change within a period until now. */
export function changeWithin(samples: readonly Sample[], periodMs: number, now: number): number {
  return samples.filter(({ at }) => at > now - periodMs).reduce((sum, { replicas }) => sum + replicas, 0);
}
