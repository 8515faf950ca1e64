import type { core, meta } from '#api';
import { minOf } from '#base';
import { findCondition, formatTime, parseTime } from '#machinery';

export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

interface ChangeTimes {
  readonly service: number;
  readonly pods: ReadonlyMap<string, number>;
}

/** Determines the last change trigger time of endpoints, by which clients measure the programming latency. */
export class TriggerTimes {
  readonly #services = new Map<string, ChangeTimes>();

  /** The earliest change of the service or its pods since the last call; undefined when there is none. */
  next(key: string, service: core.Service, pods: readonly core.Pod[]): number | undefined {
    const before = this.#services.get(key);
    const now = { service: timeOf(service.metadata.creationTimestamp), pods: podTimes(pods) };
    this.#services.set(key, now);
    const changed = [...now.pods].filter(([name, time]) => time > (before?.pods.get(name) ?? 0)).map(([, time]) => time);
    if (now.service > (before?.service ?? 0)) changed.push(now.service);
    return changed.length === 0 ? undefined : minOf(changed);
  }

  forget(key: string): void {
    this.#services.delete(key);
  }
}

/** The object with this trigger time as its annotation, or without one. */
export function withTriggerTime<T extends { readonly metadata: meta.ObjectMeta }>(object: T, time: number | undefined): T {
  const { [TRIGGER_TIME]: _, ...others } = object.metadata.annotations ?? {};
  const annotations = time === undefined ? others : { ...others, [TRIGGER_TIME]: formatTime(time) };
  const { annotations: _before, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) } };
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
