import type { core } from '#api';
import type { Selector } from '#machinery';
import { controllerOf } from '../controller-ref.ts';
import { isPodActive, isPodReady, isPodTerminating } from '../pod-state.ts';
import { hasLabels } from './reconcile.ts';

/** What decides how a pod of a set counts. */
export interface CensusRules {
  /** Of the set: its selector and template change with it only. */
  readonly generation: number | undefined;
  readonly selector: Selector;
  readonly templateLabels: Readonly<Record<string, string>>;
}

/** The pods that name a set as their controller. */
export interface PodTally {
  /** Active, and selected. */
  readonly active: number;
  /** Of these. */
  readonly fullyLabeled: number;
  readonly ready: number;
  /** Selected. */
  readonly terminating: number;
  /** Active but not selected: to be released. */
  readonly strays: number;
}

/**
 * Counts the pods of sets event by event, so that the work per event does not grow with the set. A set is counted completely at first, and
 * again after a pod's deletion: the last reported state may differ from the counted one.
 */
export class PodCensus {
  readonly #byUid = new Map<string, SetCensus>();

  /** Undefined if the set was not counted under its current generation. */
  tallyOf(uid: string, generation: number | undefined): PodTally | undefined {
    const census = this.#byUid.get(uid);
    return generation !== undefined && census?.rules.generation === generation ? { ...census.tally } : undefined;
  }

  /** Counts all pods of a set. */
  count(uid: string, rules: CensusRules, pods: readonly core.Pod[]): void {
    const census = new SetCensus(rules);
    for (const pod of pods) census.add(pod, 1);
    this.#byUid.set(uid, census);
  }

  added(pod: core.Pod): void {
    this.#censusOf(pod)?.add(pod, 1);
  }

  updated(before: core.Pod, pod: core.Pod): void {
    this.#censusOf(before)?.add(before, -1);
    this.#censusOf(pod)?.add(pod, 1);
  }

  deleted(pod: core.Pod): void {
    this.forget(controllerOf(pod)?.uid ?? '');
  }

  forget(uid: string): void {
    this.#byUid.delete(uid);
  }

  #censusOf(pod: core.Pod): SetCensus | undefined {
    return this.#byUid.size === 0 ? undefined : this.#byUid.get(controllerOf(pod)?.uid ?? '');
  }
}

class SetCensus {
  readonly tally = { active: 0, fullyLabeled: 0, ready: 0, terminating: 0, strays: 0 };
  readonly #labels: readonly (readonly [string, string])[];

  constructor(readonly rules: CensusRules) {
    this.#labels = Object.entries(rules.templateLabels);
  }

  add(pod: core.Pod, weight: 1 | -1): void {
    const { tally } = this;
    const isSelected = this.rules.selector.matches(pod.metadata.labels);
    if (isPodTerminating(pod)) {
      if (isSelected) tally.terminating += weight;
    } else if (isPodActive(pod)) {
      if (!isSelected) tally.strays += weight;
      else this.#addActive(pod, weight);
    }
  }

  #addActive(pod: core.Pod, weight: 1 | -1): void {
    const { tally } = this;
    tally.active += weight;
    if (hasLabels(pod, this.#labels)) tally.fullyLabeled += weight;
    if (isPodReady(pod)) tally.ready += weight;
  }
}
