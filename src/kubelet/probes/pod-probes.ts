import type { core } from '#api';
import type { Clock } from '#base';
import type { ContainerStatus, ProbeAnswer, ProbeRequest } from '../cri/runtime.ts';
import { isSidecar, type PodState } from '../pod-state.ts';
import { ProbeWorker } from './probe-worker.ts';

export interface PodProbesOptions {
  readonly clock: Clock;
  ask(container: ContainerStatus, request: ProbeRequest): Promise<ProbeAnswer>;
  onFailure(container: core.Container, type: ProbeRequest['type'], output: string): void;
  /** Something that the pod's status or actions depend on has changed. */
  onChange(): void;
}

interface Probed {
  readonly spec: core.Container;
  readonly status: ContainerStatus;
  startup?: ProbeWorker;
  readiness?: ProbeWorker;
  liveness?: ProbeWorker;
}

/** The probes of a pod's running containers. Readiness and liveness wait until startup has passed. */
export class PodProbes {
  readonly #containers = new Map<string, Probed>();

  constructor(private readonly options: PodProbesOptions) {}

  /** Begins with what runs now and has probes, and ends with what runs no more. */
  follow(pod: core.Pod, state: PodState): void {
    const running = new Map(state.containers.filter(({ state: at }) => at === 'running').map((status) => [status.id, status]));
    for (const id of this.#containers.keys()) if (!running.has(id)) this.#forget(id);
    const specs = [...(pod.spec?.initContainers ?? []).filter(isSidecar), ...(pod.spec?.containers ?? [])];
    for (const spec of specs) {
      if (!spec.startupProbe && !spec.readinessProbe && !spec.livenessProbe) continue;
      for (const status of running.values()) {
        if (status.name === spec.name && !this.#containers.has(status.id)) this.#begin(spec, status);
      }
    }
  }

  hasStarted(containerId: string): boolean {
    const probed = this.#containers.get(containerId);
    return probed?.spec.startupProbe === undefined || probed.startup?.result === true;
  }

  isReady(containerId: string): boolean {
    const probed = this.#containers.get(containerId);
    return probed?.spec.readinessProbe === undefined || probed.readiness?.result === true;
  }

  failure(containerId: string): 'liveness' | 'startup' | undefined {
    const probed = this.#containers.get(containerId);
    if (probed?.startup?.result === false) return 'startup';
    return probed?.liveness?.result === false ? 'liveness' : undefined;
  }

  stop(): void {
    for (const id of this.#containers.keys()) this.#forget(id);
  }

  /** A pod that is being ended is not judged any more, but still told whether it is ready. */
  stopJudging(): void {
    for (const probed of this.#containers.values()) {
      probed.startup?.stop();
      probed.liveness?.stop();
    }
  }

  #begin(spec: core.Container, status: ContainerStatus): void {
    const probed: Probed = { spec, status };
    this.#containers.set(status.id, probed);
    if (spec.startupProbe) probed.startup = this.#worker(probed, 'startup', spec.startupProbe);
    else this.#beginLater(probed);
  }

  #beginLater(probed: Probed): void {
    const { readinessProbe, livenessProbe } = probed.spec;
    if (readinessProbe) probed.readiness = this.#worker(probed, 'readiness', readinessProbe);
    if (livenessProbe) probed.liveness = this.#worker(probed, 'liveness', livenessProbe);
  }

  #worker(probed: Probed, type: ProbeRequest['type'], probe: core.Probe): ProbeWorker {
    const { clock, ask, onFailure } = this.options;
    const { spec, status } = probed;
    return new ProbeWorker({
      ...{ type, probe, clock, startedAtMs: status.startedAtMs ?? status.createdAtMs },
      ask: (request) => ask(status, request),
      onFailure: (output) => onFailure(spec, type, output),
      onResult: (passed) => this.#onResult(probed, type, passed),
    });
  }

  #onResult(probed: Probed, type: ProbeRequest['type'], passed: boolean): void {
    if (type === 'startup' && passed) {
      probed.startup?.stop();
      this.#beginLater(probed);
    }
    // A container that is to be ended has no more to say.
    if (type !== 'readiness' && !passed) this.#stopAll(probed);
    if (type !== 'liveness' || !passed) this.options.onChange();
  }

  #forget(id: string): void {
    const probed = this.#containers.get(id);
    if (probed !== undefined) this.#stopAll(probed);
    this.#containers.delete(id);
  }

  #stopAll({ startup, readiness, liveness }: Probed): void {
    startup?.stop();
    readiness?.stop();
    liveness?.stop();
  }
}
