import type { core } from '#api';
import type { Clock, Logger } from '#base';
import type { PodEvents } from '../pods/pod-events.ts';
import { isSidecar, type PodContainer, type PodState } from '../pods/pod-state.ts';
import { type ProbeOutput, ProbeWorker } from './probe-worker.ts';
import type { ProbeRequest, ProbeResult } from './prober.ts';

export interface PodProbesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  probe(container: PodContainer, request: ProbeRequest): Promise<ProbeResult>;
  readonly events: PodEvents;
  /** The readiness, startup state or liveness of a container has changed. */
  onChange(): void;
}

interface ProbedContainer {
  readonly spec: core.Container;
  readonly status: PodContainer;
  startup?: ProbeWorker;
  readiness?: ProbeWorker;
  liveness?: ProbeWorker;
}

const OUTPUTS: Readonly<Record<ProbeOutput, string>> = {
  ...{ failure: 'failed', warning: 'warning' },
  errorAsFailure: 'errored and resulted in failure state',
  errorAsUnknown: 'errored and resulted in unknown state',
};

function hasProbe({ startupProbe, readinessProbe, livenessProbe }: core.Container): boolean {
  return Boolean(startupProbe || readinessProbe || livenessProbe);
}

/** The probes of a pod's running containers. Readiness and liveness start after the startup probe. */
export class PodProbes {
  /** Made when a container has a probe: most have none. */
  #containers: Map<string, ProbedContainer> | undefined;

  constructor(private readonly options: PodProbesOptions) {}

  /** Starts probes of new containers and stops those of exited ones. */
  follow(pod: core.Pod, state: PodState): void {
    const specs = [...(pod.spec?.initContainers ?? []).filter(isSidecar), ...(pod.spec?.containers ?? [])].filter(hasProbe);
    if (specs.length === 0 && this.#containers === undefined) return;
    const running = new Map(state.containers.filter(({ state: at }) => at === 'running').map((status) => [status.id, status]));
    this.#containers ??= new Map();
    for (const id of this.#containers.keys()) if (!running.has(id)) this.#forget(id);
    for (const spec of specs) {
      for (const status of running.values()) {
        if (status.name === spec.name && !this.#containers.has(status.id)) this.#begin(spec, status, reportedStatus(pod, status));
      }
    }
  }

  hasStarted(containerId: string): boolean {
    const probed = this.#containers?.get(containerId);
    return probed?.startup === undefined || probed.startup.result === true;
  }

  isReady(containerId: string): boolean {
    const probed = this.#containers?.get(containerId);
    return probed?.spec.readinessProbe === undefined || probed.readiness?.result === true;
  }

  failure(containerId: string): 'liveness' | 'startup' | undefined {
    const probed = this.#containers?.get(containerId);
    if (probed?.startup?.result === false) return 'startup';
    return probed?.liveness?.result === false ? 'liveness' : undefined;
  }

  stop(): void {
    for (const id of this.#containers?.keys() ?? []) this.#forget(id);
  }

  /** Liveness and startup probes stop during termination; readiness continues. */
  stopJudging(): void {
    for (const probed of this.#containers?.values() ?? []) {
      probed.startup?.stop();
      probed.liveness?.stop();
    }
  }

  /** A container reported by an earlier kubelet stays started and ready until a probe fails. */
  #begin(spec: core.Container, status: PodContainer, reported: core.ContainerStatus | undefined): void {
    const probed: ProbedContainer = { spec, status };
    this.#containers?.set(status.id, probed);
    if (spec.startupProbe && !reported?.started) probed.startup = this.#worker(probed, 'startup', spec.startupProbe);
    else this.#beginLater(probed, reported?.ready);
  }

  #beginLater(probed: ProbedContainer, wasReady?: boolean): void {
    const { readinessProbe, livenessProbe } = probed.spec;
    if (readinessProbe) probed.readiness = this.#worker(probed, 'readiness', readinessProbe, wasReady || undefined);
    if (livenessProbe) probed.liveness = this.#worker(probed, 'liveness', livenessProbe);
  }

  #worker(probed: ProbedContainer, type: ProbeRequest['type'], probe: core.Probe, earlierResult?: true): ProbeWorker {
    const { clock, logger, probe: run, events } = this.options;
    const { spec, status } = probed;
    return new ProbeWorker({
      ...{ type, probe, clock, logger, startedAtMs: status.startedAtMs ?? status.createdAtMs, ...(earlierResult && { earlierResult }) },
      run: (request) => run(status, request),
      onOutput: (kind, output) => {
        const title = type.charAt(0).toUpperCase() + type.slice(1);
        events.warning(spec.name, kind === 'warning' ? 'ProbeWarning' : 'Unhealthy', `${title} probe ${OUTPUTS[kind]}: ${output}`);
      },
      onResult: (passed) => this.#onResult(probed, type, passed),
    });
  }

  #onResult(probed: ProbedContainer, type: ProbeRequest['type'], passed: boolean): void {
    if (type === 'startup' && passed) {
      probed.startup?.stop();
      this.#beginLater(probed);
    }
    // A container that is about to be killed is no longer probed.
    if (type !== 'readiness' && !passed) this.#stopAll(probed);
    if (type !== 'liveness' || !passed) this.options.onChange();
  }

  #forget(id: string): void {
    const probed = this.#containers?.get(id);
    if (probed !== undefined) this.#stopAll(probed);
    this.#containers?.delete(id);
  }

  #stopAll({ startup, readiness, liveness }: ProbedContainer): void {
    startup?.stop();
    readiness?.stop();
    liveness?.stop();
  }
}

/** The reported status of this container. */
function reportedStatus({ status }: core.Pod, { id }: PodContainer): core.ContainerStatus | undefined {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.find(({ containerID }) => containerID?.endsWith(`://${id}`));
}
