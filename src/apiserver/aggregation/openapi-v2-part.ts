import { isJsonObject, type JsonObject, type JsonValue } from '#machinery';

/** The nesting limit of schemas. */
const MAX_DEPTH = 200;
const PREFIX = '#/definitions/';

/** The paths below `prefix` with their definitions. Throws if it is not an OpenAPI v2 document. */
export function partOfV2(document: unknown, prefix: string): JsonObject {
  checkDepth(document);
  const { paths, definitions } = document as { readonly paths?: JsonValue; readonly definitions?: JsonValue };
  if (!isJsonObject(document as JsonValue) || !isJsonObject(paths ?? {})) throw new Error('it is no OpenAPI document of version 2');
  const groupPaths = Object.entries((paths ?? {}) as JsonObject).filter(
    ([path]) => path.startsWith(prefix) || path === prefix.slice(0, -1),
  );
  const own = new Map(Object.entries(isJsonObject(definitions ?? {}) ? ((definitions ?? {}) as JsonObject) : {}));
  const used = new Map<string, JsonValue>();
  const pending: JsonValue[] = groupPaths.map(([, path]) => path);
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    for (const name of referencesIn(value)) {
      const definition = own.get(name);
      if (definition === undefined || used.has(name)) continue;
      used.set(name, definition);
      pending.push(definition);
    }
  }
  return { paths: Object.fromEntries(groupPaths), definitions: Object.fromEntries(used) };
}

function checkDepth(document: unknown): void {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new Error(`it nests deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}

function referencesIn(root: JsonValue): ReadonlySet<string> {
  const names = new Set<string>();
  const pending: JsonValue[] = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const reference = isJsonObject(value) ? value.$ref : undefined;
    if (typeof reference === 'string' && reference.startsWith(PREFIX)) names.add(reference.slice(PREFIX.length));
    for (const member of Object.values(value) as JsonValue[]) if (member !== undefined) pending.push(member);
  }
  return names;
}
