import { labelSelectorText, labelsText } from '#machinery';
import type { KubeObject } from '../kube-object.ts';
import type { ServedSubresource } from '../served-resource.ts';
import { type ScaleFields, scaleSubresource } from './scale.ts';

interface Scalable {
  readonly spec?: { readonly replicas?: number; readonly selector?: unknown };
  readonly status?: { readonly replicas?: number };
}

/** Kinds of apps/v1 select by expressions, replication controllers by labels alone. */
function fieldsOf(apiVersion: string, selectorText: (selector: unknown) => string): ScaleFields {
  return {
    replicas: (object) => (object as Scalable).spec?.replicas,
    withReplicas: (object, replicas) => ({ ...object, spec: { ...(object as Scalable).spec, replicas } }),
    statusReplicas: (object) => (object as Scalable).status?.replicas ?? 0,
    selector: (object: KubeObject) => selectorText((object as Scalable).spec?.selector),
    paths: { [apiVersion]: ['spec', 'replicas'] },
  };
}

const BY_EXPRESSIONS = scaleSubresource(
  fieldsOf('apps/v1', (selector) => labelSelectorText(selector as Parameters<typeof labelSelectorText>[0])),
);
const BY_LABELS = scaleSubresource(fieldsOf('v1', (selector) => labelsText((selector ?? {}) as Readonly<Record<string, string>>)));

/** The scale of every built-in kind that has one, by `group/resource`. */
export const BUILT_IN_SCALES: Readonly<Record<string, readonly ServedSubresource[]>> = {
  'apps/deployments': [BY_EXPRESSIONS],
  'apps/replicasets': [BY_EXPRESSIONS],
  'apps/statefulsets': [BY_EXPRESSIONS],
  '/replicationcontrollers': [BY_LABELS],
};
