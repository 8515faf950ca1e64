import { Backoff, type Clock, field, type GrpcClient, grpcStatus, hasGrpcStatus, type Method, message, repeated } from '#base';
import { runtimeService } from './methods.ts';

/** containerd's own event stream, for versions before 1.7, which lack CRI's. */
const containerdEvents = {
  name: 'containerd.services.events.v1.Events/Subscribe',
  request: message({ filters: repeated(1, 'string') }),
  response: message({ topic: field(3, 'string') }),
};
const CONTAINERD_FILTERS = [
  'namespace==k8s.io,topic~="^/tasks/(create|start|exit|delete|oom)"',
  'namespace==k8s.io,topic~="^/containers/"',
];

/** Signals that containers may have changed, from whichever event stream the runtime has. */
export class ChangeHints {
  /** Resolves when everything is closed, after the signal aborted. */
  readonly done: Promise<void>;
  readonly #client: Pick<GrpcClient, 'serverStream'>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #areFlowing = false;
  #isPending = false;
  #wake = () => {};

  constructor(client: Pick<GrpcClient, 'serverStream'>, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }) {
    this.#client = client;
    this.#clock = clock;
    this.#signal = signal;
    this.done = this.#run();
  }

  /** Whether the event stream is connected and has sent hints. */
  get areFlowing(): boolean {
    return this.#areFlowing;
  }

  clear(): void {
    this.#isPending = false;
  }

  /** Resolves at the next hint since `clear` (true), after `timeoutMs`, or when the signal aborts. */
  async wait(timeoutMs: number): Promise<boolean> {
    if (this.#isPending || this.#signal.aborted) return this.#isPending;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(timeoutMs, () => this.#wake());
      const abort = () => this.#wake();
      this.#signal.addEventListener('abort', abort);
      this.#wake = () => {
        timer.cancel();
        this.#signal.removeEventListener('abort', abort);
        this.#wake = () => {};
        resolve();
      };
    });
    return this.#isPending;
  }

  async #run(): Promise<void> {
    if (await this.#follow(runtimeService.getContainerEvents, {})) return;
    await this.#follow(containerdEvents, { filters: CONTAINERD_FILTERS });
  }

  /** Follows one stream and reconnects. False: the runtime does not have it. */
  async #follow<Request>(method: Method<Request, unknown>, request: Request): Promise<boolean> {
    const backoff = new Backoff({ initialMs: 100, maxMs: 5_000 });
    while (!this.#signal.aborted) {
      try {
        for await (const _ of this.#client.serverStream(method, request, { signal: this.#signal })) {
          backoff.reset();
          this.#areFlowing = true;
          this.#hint();
        }
      } catch (error) {
        if (hasGrpcStatus(error, grpcStatus.unimplemented)) return false;
      }
      this.#areFlowing = false;
      this.#hint();
      await this.#clock.sleep(backoff.next(), this.#signal).catch(() => {});
    }
    return true;
  }

  #hint(): void {
    this.#isPending = true;
    this.#wake();
  }
}
