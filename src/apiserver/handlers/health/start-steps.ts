import type { HealthCheck } from './health-checks.ts';

export type StartStep = 'definitions' | 'allocation' | 'system objects' | 'registration' | 'aggregation' | 'caches';

const HOOK = 'poststarthook/';

/** Upstream's checks of its start, by the step of ours that completes them. */
const NAMES: Readonly<Record<StartStep, readonly string[]>> = {
  definitions: [`${HOOK}start-apiextensions-informers`, `${HOOK}start-apiextensions-controllers`, `${HOOK}crd-informer-synced`],
  allocation: [`${HOOK}start-service-ip-repair-controllers`],
  'system objects': [
    `${HOOK}start-system-namespaces-controller`,
    `${HOOK}rbac/bootstrap-roles`,
    `${HOOK}scheduling/bootstrap-system-priority-classes`,
    `${HOOK}priority-and-fairness-config-producer`,
    `${HOOK}bootstrap-controller`,
    `${HOOK}start-kubernetes-service-cidr-controller`,
    `${HOOK}start-cluster-authentication-info-controller`,
  ],
  registration: [`${HOOK}kube-apiserver-autoregistration`, 'autoregister-completion'],
  aggregation: [
    `${HOOK}start-kube-aggregator-informers`,
    `${HOOK}apiservice-registration-controller`,
    `${HOOK}apiservice-status-local-available-controller`,
    `${HOOK}apiservice-status-remote-available-controller`,
    `${HOOK}apiservice-openapi-controller`,
  ],
  caches: [`${HOOK}generic-apiserver-start-informers`, `${HOOK}start-apiserver-admission-initializer`, `${HOOK}storage-readiness`],
};

/** Startup progress as health checks. */
export class StartSteps {
  readonly #reached = new Set<string>();

  readonly checks: readonly HealthCheck[] = Object.entries(NAMES).flatMap(([step, names]) =>
    names.map((name) => ({ name, check: () => this.#reached.has(step) })),
  );

  reach(step: StartStep): void {
    this.#reached.add(step);
  }
}
