import type { core } from '#api';

export interface ProbeTarget {
  readonly containerId: string;
  readonly container: core.Container;
  readonly podIp: string;
}

export interface ProbeRequest {
  readonly type: 'startup' | 'readiness' | 'liveness';
  readonly probe: core.Probe;
  readonly timeoutMs: number;
}

export interface ProbeAnswer {
  readonly passed: boolean;
  /** The output of a failed probe, or of a success with a warning. */
  readonly output: string;
  readonly isWarning?: boolean;
  /** The result does not change before this time while the container runs: no need to probe. */
  readonly sameUntilMs?: number;
}

/** Executes probes and hook requests. */
export interface Prober {
  /** Rejects when the probe could not be executed. */
  probe(target: ProbeTarget, request: ProbeRequest): Promise<ProbeAnswer>;
  /** The request of a lifecycle hook. */
  httpGet(action: core.HTTPGetAction, target: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer>;
}
