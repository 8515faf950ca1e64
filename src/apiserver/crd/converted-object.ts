import { meta } from '#api';
import { aggregateFieldErrors, isJsonObject, type JsonObject, type JsonValue, Path, sameJson } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';

/** Throws when what a webhook answered is not the object that it was given, in the version that was asked for. */
export function checkConverted(object: KubeObject, answer: JsonValue, apiVersion: string): JsonObject {
  if (!isJsonObject(answer)) throw new Error('invalid object at index 0: it is not an object');
  const { apiVersion: answered = '', kind = '' } = answer;
  if (answered !== apiVersion) {
    throw new Error(`invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${answered})`);
  }
  if (kind !== object.kind) throw new Error(`invalid object at index 0: invalid kind (expected ${object.kind}, received ${kind})`);
  checkIdentity(object.metadata, isJsonObject(answer.metadata) ? answer.metadata : {});
  return answer;
}

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

function checkIdentity(given: KubeObject['metadata'], answered: JsonObject): void {
  for (const [field, title] of IDENTITY) {
    const [before, after] = [given[field] ?? '', answered[field] ?? ''];
    if (before !== after) throw new Error(`invalid object: must have the same ${title}: ${before} != ${after}`);
  }
}

/** Labels and annotations are what a webhook may change of metadata; the rest stays as it was, whatever the answer has. */
export function restoreMetadata(object: KubeObject, converted: JsonObject): KubeObject {
  const answered = converted.metadata;
  if (answered === undefined) throw new Error('invalid metadata: missing metadata in converted object');
  if (!isJsonObject(answered)) throw new Error(`invalid metadata: invalid metadata of type ${goType(answered)} in converted object`);
  const { labels: _labels, annotations: _annotations, ...kept } = object.metadata;
  const changed = { ...textsOf(object, answered, 'labels'), ...textsOf(object, answered, 'annotations') };
  return { ...converted, metadata: { ...kept, ...changed } } as unknown as KubeObject;
}

function textsOf(object: KubeObject, answered: JsonObject, field: 'labels' | 'annotations'): JsonObject {
  const value = answered[field];
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new Error(`invalid metadata: invalid metadata.${field} of type ${goType(value)} in converted object`);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text === 'string') continue;
    throw new Error(`invalid metadata: metadata.${field}[${key}] must be a string, but is ${goType(text)} in converted object`);
  }
  if (!sameJson(value, (object.metadata[field] ?? {}) as JsonObject)) checkTexts(field, value as Record<string, string>);
  return { [field]: value };
}

function checkTexts(field: 'labels' | 'annotations', texts: Readonly<Record<string, string>>): void {
  const errors =
    field === 'labels'
      ? meta.validateLabels(texts, Path.of('metadata', 'labels'))
      : meta.validateAnnotations(texts, Path.of('metadata', 'annotation'));
  if (errors.length > 0) throw new Error(`invalid metadata: ${aggregateFieldErrors(errors)}`);
}

function goType(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}
