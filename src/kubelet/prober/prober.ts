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

export interface ProbeResult {
  readonly passed: boolean;
  /** The output of a failed probe, or of a success with a warning. */
  readonly output: string;
  readonly isWarning?: boolean;
  /** The result does not change before this time while the container runs: no need to probe. */
  readonly sameUntilMs?: number;
}

/** A probe that could not be executed, or whose answer could not be read: no statement about the container. */
export class ProbeError extends Error {
  constructor(
    message: string,
    /** Upstream's name of the result in the event. */
    readonly state: 'failure' | 'unknown',
  ) {
    super(message);
  }
}

export interface HookResponse {
  /** The address whose HTTPS request failed and was retried over HTTP. */
  readonly fellBackFrom?: string;
}

/** Executes probes and hook requests. */
export interface Prober {
  /** Rejects when the probe could not be executed. */
  probe(target: ProbeTarget, request: ProbeRequest): Promise<ProbeResult>;
  /** The request of a lifecycle hook. Rejects when there is no answer. */
  httpGet(action: core.HTTPGetAction, target: ProbeTarget, signal: AbortSignal): Promise<HookResponse>;
}
