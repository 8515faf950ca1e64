import { KINDS } from '#api';
import {
  type DecodedObject,
  decodeObject,
  type GroupVersionKind,
  type JsonValue,
  type ObjectSchema,
  StatusError,
  strictDecodingError,
} from '#machinery';
import type { ServedResource } from '../../registry/generic/served-resource.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { RequestMatch } from './request-matcher.ts';

/** How objects of a request are read and completed after they were changed. */
export interface ChangedKind {
  readonly schema: ObjectSchema;
  /** Unknown fields are reported separately: some callers ignore them. */
  decode(value: JsonValue): DecodedObject;
  complete(object: KubeObject): KubeObject;
}

/** Undefined for unknown kinds. */
export function changedKind({ resource, kind }: RequestMatch): ChangedKind | undefined {
  if (kind.kind === resource.kind && kind.group === resource.group) return resourceKind(resource);
  const schema = schemaOf(kind);
  return schema && { schema, decode: (value) => decodeObject(schema, value), complete: (object) => object };
}

function resourceKind(resource: ServedResource): ChangedKind {
  const { schema, strategy } = resource;
  return {
    schema,
    decode: (value) => resource.decode?.(value) ?? decodeObject(schema, value),
    complete: (object) => strategy.defaults?.(object) ?? object,
  };
}

function schemaOf({ group, version, kind }: GroupVersionKind): ObjectSchema | undefined {
  return KINDS.find((candidate) => candidate.kind === kind && candidate.group === group && candidate.version === version);
}

/** Decodes a changed object and sets its defaults. Throws a StatusError if it is not a valid object of the kind. */
export function readChanged(kind: ChangedKind, value: JsonValue, strict: boolean): KubeObject {
  const { object, error, problems } = kind.decode(value);
  if (error !== undefined) throw StatusError.internalError(new Error(error));
  if (strict && problems.length > 0) throw StatusError.internalError(new Error(strictDecodingError(problems)));
  return kind.complete(object as unknown as KubeObject);
}
