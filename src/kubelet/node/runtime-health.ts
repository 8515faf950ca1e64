import type { Clock } from '#base';
import { formatDurationMs } from '#machinery';
import type { ContainerRuntime, Image, RuntimeStatus } from '../cri/runtime.ts';

export interface RuntimeFacts {
  /** Such as `containerd://1.7.0`. */
  readonly version: string;
  readonly images: readonly Image[];
  readonly status: Pick<RuntimeStatus, 'handlers' | 'features'>;
  /** Why the runtime cannot run pods, in upstream's words. */
  readonly problems: readonly string[];
}

/** The timeout of a health check, and how long a runtime may fail before it counts as down, as upstream. */
const STATUS_TIMEOUT_MS = 5_000;
const SILENCE_MS = 30_000;
/** How long lists of containers may fail, as upstream. */
const RELIST_THRESHOLD_MS = 180_000;

/** The runtime's health. If it hangs or is down, the last known facts are reported with the problem. */
export class RuntimeHealth {
  #facts: RuntimeFacts | undefined;
  #answeredAtMs = 0;
  /** Undefined: the runtime is not relisted, or has not been yet. */
  #relistedAtMs: number | undefined;

  constructor(private readonly deps: { readonly runtime: ContainerRuntime; readonly clock: Clock }) {}

  /** The runtime listed its containers. */
  relisted(): void {
    this.#relistedAtMs = this.deps.clock.monotonic();
  }

  /** Why the runtime has no network, in upstream's words. Only queried while it last reported that. */
  async networkProblem(): Promise<string | undefined> {
    if (networkProblemOf(this.#facts?.problems) === undefined) return undefined;
    const { problems } = await this.#readStatus().catch(() => this.#facts as RuntimeFacts);
    return networkProblemOf(problems);
  }

  /** Rejects only when the runtime has never responded. */
  async read(): Promise<RuntimeFacts> {
    const { clock } = this.deps;
    let isDown = false;
    try {
      this.#facts = await this.#readStatus();
      this.#answeredAtMs = clock.monotonic();
    } catch (error) {
      if (this.#facts === undefined) throw error;
      isDown = clock.monotonic() - this.#answeredAtMs >= SILENCE_MS;
    }
    const facts = this.#facts;
    const problems = [...(isDown ? ['container runtime is down'] : []), ...this.#relistProblems(), ...(isDown ? [] : facts.problems)];
    return { ...facts, problems };
  }

  #relistProblems(): readonly string[] {
    const silentMs = this.deps.clock.monotonic() - (this.#relistedAtMs ?? this.deps.clock.monotonic());
    if (silentMs < RELIST_THRESHOLD_MS) return [];
    const [ago, threshold] = [silentMs, RELIST_THRESHOLD_MS].map((ms) => formatDurationMs(ms));
    return [`PLEG is not healthy: pleg was last seen active ${ago} ago; threshold is ${threshold}`];
  }

  async #readStatus(): Promise<RuntimeFacts> {
    const { runtime, clock } = this.deps;
    const stop = new AbortController();
    const checks = Promise.all([runtime.version(), runtime.status(), runtime.listImages()]);
    const late = clock.sleep(STATUS_TIMEOUT_MS, stop.signal).then(() => {
      throw new Error('the container runtime does not answer');
    });
    checks.catch(() => {});
    late.catch(() => {});
    try {
      const [{ runtimeName, runtimeVersion }, status, images] = await Promise.race([checks, late]);
      return { version: `${runtimeName}://${runtimeVersion}`, images, status, problems: runtimeProblems(status) };
    } finally {
      stop.abort();
    }
  }
}

const NETWORK_PROBLEM = 'container runtime network not ready';

function networkProblemOf(problems: readonly string[] = []): string | undefined {
  return problems.find((problem) => problem.startsWith(NETWORK_PROBLEM));
}

function runtimeProblems({ conditions }: RuntimeStatus): readonly string[] {
  return ['RuntimeReady', 'NetworkReady'].flatMap((type) => {
    const condition = conditions.find((candidate) => candidate.type === type);
    if (condition?.status === true) return [];
    const problem = type === 'RuntimeReady' ? 'container runtime not ready' : NETWORK_PROBLEM;
    const detail = condition === undefined ? '<nil>' : `${type}=false reason:${condition.reason} message:${condition.message}`;
    return [`${problem}: ${detail}`];
  });
}
