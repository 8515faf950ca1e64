import type { apiextensions } from '#api';
import { apiVersionOf, isJsonObject, type JsonObject, type JsonValue, StatusError, setKey } from '#machinery';
import type { ScaleFields } from '../registry/generic/scale-fields.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';

/** The scale of a custom resource, by the paths in its definition. */
export function customScale(type: apiextensions.CustomResourceType): ScaleFields {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = type.scale!;
  const spec = stepsOf(specReplicasPath);
  const status = stepsOf(statusReplicasPath);
  const selector = labelSelectorPath === undefined ? undefined : stepsOf(labelSelectorPath);
  return {
    replicas: (object) => numberAt(object, spec),
    withReplicas: (object, replicas) => withValue(object as unknown as JsonObject, spec, replicas) as unknown as KubeObject,
    statusReplicas: (object) => numberAt(object, status) ?? 0,
    selector: (object) => (selector === undefined ? undefined : (valueAt(object, selector) as string | undefined)),
    optional: {
      absent: () => StatusError.internalError(new Error(`the spec replicas field "${specReplicasPath}" does not exist`)),
      unset: () => StatusError.badRequest(`the spec replicas field "${specReplicasPath}" cannot be empty`),
    },
    paths: { [apiVersionOf(type.kind)]: spec },
  };
}

/** `.spec.replicas`: validated to consist of names only. */
function stepsOf(path: string): readonly string[] {
  return path.split('.').filter((step) => step !== '');
}

function valueAt(object: KubeObject, steps: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object as unknown as JsonObject;
  for (const step of steps) value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

function numberAt(object: KubeObject, steps: readonly string[]): number | undefined {
  const value = valueAt(object, steps);
  return typeof value === 'number' ? value : undefined;
}

function withValue(object: JsonObject, [step = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  const copy = { ...object };
  const inner = isJsonObject(object[step]) ? object[step] : {};
  setKey(copy, step, rest.length === 0 ? value : withValue(inner, rest, value));
  return copy;
}
