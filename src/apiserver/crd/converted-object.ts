import { meta } from '#api';
import { aggregateFieldErrors, isJsonObject, type JsonObject, type JsonValue, Path, sameJson } from '#machinery';
import type { KubeObject } from '../watch-cache/kube-object.ts';

/** Throws if the webhook returned another object or another version than requested. */
export function checkConverted(object: KubeObject, answer: JsonValue, apiVersion: string): JsonObject {
  if (!isJsonObject(answer)) throw new Error('invalid object at index 0: it is not an object');
  const { apiVersion: apiVersionInResponse = '', kind = '' } = answer;
  if (apiVersionInResponse !== apiVersion) {
    throw new Error(`invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${apiVersionInResponse})`);
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

function checkIdentity(metadata: KubeObject['metadata'], convertedMetadata: JsonObject): void {
  for (const [field, title] of IDENTITY) {
    const [before, after] = [metadata[field] ?? '', convertedMetadata[field] ?? ''];
    if (before !== after) throw new Error(`invalid object: must have the same ${title}: ${before} != ${after}`);
  }
}

/** A webhook may change labels and annotations only; all other metadata is restored. */
export function restoreMetadata(object: KubeObject, converted: JsonObject): KubeObject {
  const convertedMetadata = converted.metadata;
  if (convertedMetadata === undefined) throw new Error('invalid metadata: missing metadata in converted object');
  if (!isJsonObject(convertedMetadata))
    throw new Error(`invalid metadata: invalid metadata of type ${goType(convertedMetadata)} in converted object`);
  const { labels: _labels, annotations: _annotations, ...identity } = object.metadata;
  const changed = { ...textsOf(object, convertedMetadata, 'labels'), ...textsOf(object, convertedMetadata, 'annotations') };
  return { ...converted, metadata: { ...identity, ...changed } } as unknown as KubeObject;
}

function textsOf(object: KubeObject, convertedMetadata: JsonObject, field: 'labels' | 'annotations'): JsonObject {
  const value = convertedMetadata[field];
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
