import {
  Backoff,
  type Clock,
  field,
  type GrpcClient,
  grpcStatus,
  hasGrpcStatus,
  type Method,
  message,
  repeated,
  type TimerHandle,
} from '#base';
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

/** The topics and types of containers that ended or were removed. */
const END_TOPIC = /^\/(?:tasks\/(?:exit|delete|oom)|containers\/delete)/;
const END_TYPES: ReadonlySet<string> = new Set(['stopped', 'deleted']);
/** How long starts are collected: the kubelet starts containers itself and checks them then. */
const STARTS_MS = 1_000;

/** Signals that containers may have changed, from whichever event stream the runtime has: ends at once, starts within a second. */
export class ChangeHints {
  /** Resolves when everything is closed, after the signal aborted. */
  readonly done: Promise<void>;
  readonly #client: Pick<GrpcClient, 'serverStream'>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #areFlowing = false;
  #isPending = false;
  #hasEnd = false;
  #starts: TimerHandle | undefined;
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
    this.#hasEnd = false;
  }

  /** Resolves at the next hint since `clear`, after `timeoutMs`, or when the signal aborts. True: something may have ended. */
  async wait(timeoutMs: number): Promise<boolean> {
    if (this.#isPending || this.#signal.aborted) return this.#hasEnd;
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
    return this.#hasEnd;
  }

  async #run(): Promise<void> {
    const isCriEnd = ({ type }: { readonly type: string }) => END_TYPES.has(type);
    const isContainerdEnd = ({ topic }: { readonly topic: string }) => END_TOPIC.test(topic);
    try {
      if (await this.#follow(runtimeService.getContainerEvents, {}, isCriEnd)) return;
      await this.#follow(containerdEvents, { filters: CONTAINERD_FILTERS }, isContainerdEnd);
    } finally {
      this.#starts?.cancel();
    }
  }

  /** Follows one stream and reconnects. False: the runtime does not have it. */
  async #follow<Request, Event>(method: Method<Request, Event>, request: Request, isEnd: (event: Event) => boolean): Promise<boolean> {
    const backoff = new Backoff({ initialMs: 100, maxMs: 5_000 });
    while (!this.#signal.aborted) {
      try {
        for await (const event of this.#client.serverStream(method, request, { signal: this.#signal })) {
          backoff.reset();
          this.#areFlowing = true;
          if (isEnd(event)) this.#hint(true);
          else this.#starts ??= this.#clock.setTimer(STARTS_MS, () => this.#hint(false));
        }
      } catch (error) {
        if (hasGrpcStatus(error, grpcStatus.unimplemented)) return false;
      }
      this.#areFlowing = false;
      this.#hint(true);
      await this.#clock.sleep(backoff.next(), this.#signal).catch(() => {});
    }
    return true;
  }

  #hint(isEnd: boolean): void {
    this.#starts?.cancel();
    this.#starts = undefined;
    this.#isPending = true;
    this.#hasEnd ||= isEnd;
    this.#wake();
  }
}
