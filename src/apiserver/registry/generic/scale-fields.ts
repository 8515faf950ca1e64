import { labelSelectorText, labelsText, type ReplicasPaths, type StatusError } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';

/** The fields of a kind that its Scale shows. */
export interface ScaleFields {
  /** Undefined when the object has no replica count. */
  replicas(object: KubeObject): number | undefined;
  withReplicas(object: KubeObject, replicas: number): KubeObject;
  statusReplicas(object: KubeObject): number;
  /** The label selector as text; undefined if the kind has none. */
  selector(object: KubeObject): string | undefined;
  /** The kind has no replica count unless an object states one. Absent: zero replicas. */
  readonly optional?: OptionalReplicas;
  /** By version of the kind. */
  readonly paths: ReplicasPaths;
}

/** Custom resources: the count may be absent, and the object's own validation checks it. */
export interface OptionalReplicas {
  /** The error of reading the scale of an object without a replica count. */
  absent(): StatusError;
  /** The error of a write that leaves it without one. */
  unset(): StatusError;
}

interface Scalable {
  readonly spec?: { readonly replicas?: number; readonly selector?: unknown };
  readonly status?: { readonly replicas?: number };
}

function fieldsOf(apiVersion: string, selectorText: (selector: unknown) => string): ScaleFields {
  return {
    replicas: (object) => (object as Scalable).spec?.replicas,
    withReplicas: (object, replicas) => ({ ...object, spec: { ...(object as Scalable).spec, replicas } }),
    statusReplicas: (object) => (object as Scalable).status?.replicas ?? 0,
    selector: (object: KubeObject) => selectorText((object as Scalable).spec?.selector),
    paths: { [apiVersion]: ['spec', 'replicas'] },
  };
}

/** Kinds of apps/v1 select by expressions. */
export const APPS_SCALE = fieldsOf('apps/v1', (selector) => labelSelectorText(selector as Parameters<typeof labelSelectorText>[0]));

/** Replication controllers select by labels alone. */
export const REPLICATION_CONTROLLER_SCALE = fieldsOf('v1', (selector) => labelsText((selector ?? {}) as Readonly<Record<string, string>>));
