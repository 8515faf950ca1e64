import { Quantity } from '#machinery';
import { objectCountName, type QuotaEvaluator } from './evaluator.ts';

/** Resources with another, older quota name besides `count/…`. */
const ALIASES: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

/** Counts the objects of any resource. */
export function objectCountEvaluator({ group, resource }: { readonly group: string; readonly resource: string }): QuotaEvaluator {
  const names = [objectCountName({ group, resource }), ...(group === '' && ALIASES.has(resource) ? [resource] : [])];
  return {
    group,
    resource,
    matching: (resources) => resources.filter((name) => names.includes(name)),
    usage: () => new Map(names.map((name) => [name, Quantity.of(1)])),
    matchesScope: () => false,
    changesUsage: () => false,
  };
}

const IGNORED: ReadonlySet<string> = new Set([
  '/bindings',
  '/componentstatuses',
  'authentication.k8s.io/tokenreviews',
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/subjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  '/events',
  'events.k8s.io/events',
]);

/** Reviews are not stored, and events are not counted. */
export function isQuotable({ group, resource }: { readonly group: string; readonly resource: string }): boolean {
  return !IGNORED.has(`${group}/${resource}`);
}
