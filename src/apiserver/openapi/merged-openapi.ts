import { isJsonObject, type JsonObject, type JsonValue, sameJson } from '#machinery';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';

/** OpenAPI of aggregated servers. */
export interface AggregatedOpenApi {
  /** Incremented with every change. */
  readonly generation: number;
  /** The paths of v3 documents, by key (`apis/GROUP/VERSION`). */
  addresses(): ReadonlyMap<string, string>;
  /** Their v2 paths and definitions. */
  partsV2(): readonly JsonObject[];
  /** A v3 document; undefined for other keys. */
  respond(key: string, request: ApiRequest): ApiResponse | Promise<ApiResponse> | undefined;
}

export const NO_AGGREGATED_OPENAPI: AggregatedOpenApi = {
  generation: 0,
  addresses: () => new Map(),
  partsV2: () => [],
  respond: () => undefined,
};

const PREFIX = '#/definitions/';

/** Merges v2 documents. Existing paths are kept; conflicting definitions are renamed. */
export function mergedV2(own: JsonObject, parts: readonly JsonObject[]): JsonObject {
  if (parts.length === 0) return own;
  const paths = new Map(Object.entries(own.paths as JsonObject));
  const definitions = new Map(Object.entries(own.definitions as JsonObject));
  for (const part of parts) addPart(part, paths, definitions);
  return { ...own, paths: Object.fromEntries(paths), definitions: Object.fromEntries(definitions) };
}

type Members = Map<string, JsonValue | undefined>;

function addPart(part: JsonObject, paths: Members, definitions: Members): void {
  const names = new Map<string, string>();
  const added = Object.entries(part.definitions as JsonObject);
  for (const [name, definition] of added) names.set(name, freeName(name, definition as JsonValue, definitions));
  const rename = (reference: string) => {
    const name = reference.startsWith(PREFIX) ? names.get(reference.slice(PREFIX.length)) : undefined;
    return name === undefined ? reference : `${PREFIX}${name}`;
  };
  for (const [name, definition] of added) definitions.set(names.get(name)!, withReferences(definition as JsonValue, rename));
  for (const [path, item] of Object.entries(part.paths as JsonObject))
    if (!paths.has(path)) paths.set(path, withReferences(item as JsonValue, rename));
}

/** The name, or an unused variant of it. */
function freeName(name: string, definition: JsonValue, definitions: Members): string {
  for (let version = 1; ; version++) {
    const candidate = version === 1 ? name : `${name}_v${version}`;
    const namesake = definitions.get(candidate);
    if (namesake === undefined || sameJson(namesake, definition)) return candidate;
  }
}

/** The value with references renamed. Recursive: only for values of bounded depth. */
export function withReferences(value: JsonValue, rename: (reference: string) => string): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => withReferences(item, rename));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]): [string, JsonValue] => {
    const isReference = key === '$ref' && typeof member === 'string';
    return [key, isReference ? rename(member) : withReferences(member as JsonValue, rename)];
  });
  return Object.fromEntries(entries);
}
