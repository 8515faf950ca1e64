import { type Clock, GrpcError, grpcStatus } from '#base';

/**
 * A fault of one call. Once: `fail-once`, `fail-after-acting`, `forget` (reports success without acting), `slow`, `garbage` (acts, and
 * sends bytes that are no message). Until cleared: `fail`, `hang`, `lie` (as `forget`, each time).
 */
export type Fault = 'fail-once' | 'fail-after-acting' | 'forget' | 'slow' | 'garbage' | 'fail' | 'hang' | 'lie';

const LASTING: readonly Fault[] = ['fail', 'hang', 'lie'];
const SLOW_MS = 250;

export interface FaultyCall<T> {
  readonly name: string;
  readonly signal: AbortSignal;
  act(): Promise<T>;
  /** The response of a driver that did not act. */
  nothing(): T;
  garbage(): T;
}

/** Injected faults, by the name of the call: `NodeStageVolume`. */
export class Faults {
  readonly #faults = new Map<string, Fault>();
  readonly #errors = new Map<string, GrpcError>();
  readonly #changes = new Map<string, (answer: never) => unknown>();

  constructor(private readonly clock: Clock) {}

  set(call: string, fault: Fault): void {
    this.#faults.set(call, fault);
  }

  /** Until cleared, the driver acts correctly and sends another response. */
  change<T>(call: string, change: (answer: T) => unknown): void {
    this.#changes.set(call, change);
  }

  /** Until cleared, the driver does not act and responds with an error. */
  reject(call: string, error: GrpcError): void {
    this.#errors.set(call, error);
  }

  clear(): void {
    this.#errors.clear();
    this.#faults.clear();
    this.#changes.clear();
  }

  async run<T>(call: FaultyCall<T>): Promise<T> {
    const error = this.#errors.get(call.name);
    if (error !== undefined) throw error;
    const answer = await this.#run(call);
    const change = this.#changes.get(call.name);
    return change === undefined ? answer : (change(answer as never) as T);
  }

  async #run<T>({ name, signal, act, nothing, garbage }: FaultyCall<T>): Promise<T> {
    const fault = this.#faults.get(name);
    if (fault !== undefined && !LASTING.includes(fault)) this.#faults.delete(name);
    switch (fault) {
      case undefined:
        return act();
      case 'forget':
      case 'lie':
        return nothing();
      case 'hang':
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
      case 'slow':
        await this.clock.sleep(SLOW_MS, signal);
        return act();
      case 'garbage':
        await act();
        return garbage();
      case 'fail-after-acting':
        await act();
        throw new GrpcError(grpcStatus.internal, `${name} was done, and failed`);
      default:
        throw new GrpcError(grpcStatus.internal, `${name} failed`);
    }
  }
}
