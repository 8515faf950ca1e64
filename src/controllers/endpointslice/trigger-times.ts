import type { core } from '#api';
import { findCondition, parseTime } from '#machinery';

export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

interface Known {
  readonly service: number;
  readonly pods: ReadonlyMap<string, number>;
}

/** Finds out when that which changes a service's endpoints happened, so that the way from there to the proxies can be measured. */
export class TriggerTimes {
  readonly #known = new Map<string, Known>();

  /** The earliest change of the service or its pods since it was last asked for; undefined when there is none. */
  next(key: string, service: core.Service, pods: readonly core.Pod[]): number | undefined {
    const before = this.#known.get(key);
    const now = { service: timeOf(service.metadata.creationTimestamp), pods: podTimes(pods) };
    this.#known.set(key, now);
    const changed = [...now.pods].filter(([name, time]) => time > (before?.pods.get(name) ?? 0)).map(([, time]) => time);
    if (now.service > (before?.service ?? 0)) changed.push(now.service);
    return changed.length === 0 ? undefined : Math.min(...changed);
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}

function podTimes(pods: readonly core.Pod[]): ReadonlyMap<string, number> {
  const times = pods.map((pod): [string, number] => [pod.metadata.name, podTime(pod)]);
  return new Map(times.filter(([, time]) => time > 0));
}

function podTime({ status }: core.Pod): number {
  return timeOf(findCondition(status?.conditions, 'Ready')?.lastTransitionTime ?? undefined);
}

function timeOf(text: string | undefined): number {
  return text ? parseTime(text) : 0;
}
