import type { HealthCheck } from './health-checks.ts';

export type StartStep = 'definitions' | 'allocation' | 'system objects';

/** Upstream's post-start hooks, by the step of ours that completes them. */
const NAMES: Readonly<Record<StartStep, readonly string[]>> = {
  definitions: ['start-apiextensions-informers', 'start-apiextensions-controllers', 'crd-informer-synced'],
  allocation: ['start-service-ip-repair-controllers'],
  'system objects': [
    'start-system-namespaces-controller',
    'rbac/bootstrap-roles',
    'scheduling/bootstrap-system-priority-classes',
    'priority-and-fairness-config-producer',
    'bootstrap-controller',
    'start-kubernetes-service-cidr-controller',
  ],
};

/** Startup progress as health checks. */
export class StartSteps {
  readonly #reached = new Set<string>();

  readonly checks: readonly HealthCheck[] = Object.entries(NAMES).flatMap(([step, names]) =>
    names.map((name) => ({ name: `poststarthook/${name}`, check: () => this.#reached.has(step) })),
  );

  reach(step: StartStep): void {
    this.#reached.add(step);
  }
}
