import type { Clock, TimerHandle } from '#base';
import type { CycleState } from './cycle-state.ts';
import type { TrialChange } from './plugin.ts';
import type { Profile } from './profile.ts';
import { type Status, unschedulable } from './status.ts';

interface WaitingPod {
  readonly pending: Map<string, TimerHandle>;
  readonly outcome: Promise<Status | undefined>;
  settle(status: Status | undefined): void;
}

/** Assumed pods that wait for a Permit plugin. */
export class WaitingPods {
  readonly #pods = new Map<string, WaitingPod>();

  constructor(private readonly clock: Clock) {}

  has(uid: string): boolean {
    return this.#pods.has(uid);
  }

  /** Runs the Permit plugins; a status is a rejection. Pods that must wait are added. */
  permit(profile: Profile, state: CycleState, { pod, node }: TrialChange): Status | undefined {
    for (const plugin of profile.plugins.permit) {
      const result = plugin.permit?.(state, pod, node);
      if (result?.status === undefined) continue;
      if (result.status.code !== 'Wait') {
        this.reject(pod.uid, '');
        return result.status;
      }
      this.#wait(pod.uid, plugin.name, result.timeoutMs);
    }
    return undefined;
  }

  /** Undefined once all plugins allow it; else why not. */
  permitted(uid: string): Promise<Status | undefined> {
    return this.#pods.get(uid)?.outcome ?? Promise.resolve(undefined);
  }

  allow(uid: string, plugin: string): void {
    const waiting = this.#pods.get(uid);
    const timer = waiting?.pending.get(plugin);
    if (waiting === undefined || timer === undefined) return;
    timer.cancel();
    waiting.pending.delete(plugin);
    if (waiting.pending.size === 0) this.#end(uid, undefined);
  }

  reject(uid: string, message: string, plugin = ''): void {
    if (this.#pods.has(uid)) this.#end(uid, unschedulable(plugin, message));
  }

  rejectAll(message: string): void {
    for (const uid of [...this.#pods.keys()]) this.reject(uid, message);
  }

  #wait(uid: string, plugin: string, timeoutMs: number): void {
    let waiting = this.#pods.get(uid);
    if (waiting === undefined) {
      let settle: (status: Status | undefined) => void = () => {};
      const outcome = new Promise<Status | undefined>((resolve) => {
        settle = resolve;
      });
      waiting = { pending: new Map(), outcome, settle };
      this.#pods.set(uid, waiting);
    }
    const timer = this.clock.setTimer(timeoutMs, () =>
      this.reject(uid, `rejected due to timeout after waiting ${timeoutMs / 1000}s at plugin ${plugin}`, plugin),
    );
    waiting.pending.set(plugin, timer);
  }

  #end(uid: string, status: Status | undefined): void {
    const waiting = this.#pods.get(uid);
    this.#pods.delete(uid);
    for (const timer of waiting?.pending.values() ?? []) timer.cancel();
    waiting?.settle(status);
  }
}
