/** What a request asks for, read from its method and path alone. */
export interface RequestInfo {
  /** Names an API resource, as opposed to `/healthz`, `/version`, discovery … */
  readonly isResource: boolean;
  readonly path: string;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /** Empty for cluster-scoped requests. */
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Segments beyond the subresource: what a proxy passes on; elsewhere no such path exists. */
  readonly rest: readonly string[];
  /** `/api/v1/watch/…`, the watch of before `?watch=1`. */
  readonly legacyWatch: boolean;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
// Below /namespaces/NAME these are parts of the namespace itself, not resources in it.
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize']);

export interface RequestLine {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly watch: boolean;
  /** The name in a `metadata.name=` field selector: such lists are authorized as if for that object. */
  readonly selectedName?: string | undefined;
}

export function parseRequestInfo(line: RequestLine): RequestInfo {
  if (line.path.includes('//')) return nonResource(line);
  const segments = line.path.split('/').filter((segment) => segment !== '');
  const isGroup = segments[0] === 'apis';
  if ((segments[0] !== 'api' && !isGroup) || segments.length < (isGroup ? 4 : 3)) return nonResource(line);
  const group = isGroup ? segments[1]! : '';
  const version = segments[isGroup ? 2 : 1]!;
  const legacyWatch = segments[isGroup ? 3 : 2] === 'watch' && segments.length > (isGroup ? 4 : 3);
  const parts = segments.slice((isGroup ? 3 : 2) + (legacyWatch ? 1 : 0));
  return { ...located(parts), isResource: true, path: line.path, group, version, legacyWatch, ...verbOf(line, parts, legacyWatch) };
}

function nonResource({ path, method }: RequestLine): RequestInfo {
  const none = { group: '', version: '', namespace: '', resource: '', subresource: '', name: '', rest: [], legacyWatch: false };
  return { ...none, isResource: false, path, verb: method.toLowerCase() };
}

function located(parts: readonly string[]): Pick<RequestInfo, 'namespace' | 'resource' | 'name' | 'subresource' | 'rest'> {
  const inNamespace = parts[0] === 'namespaces' && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!);
  const [resource = '', name = '', subresource = '', ...rest] = inNamespace ? parts.slice(2) : parts;
  const namespace = inNamespace ? parts[1]! : resource === 'namespaces' ? name : '';
  return { namespace, resource, name, subresource, rest };
}

function verbOf(
  { method, watch, selectedName }: RequestLine,
  parts: readonly string[],
  legacyWatch: boolean,
): { verb: string; name?: string } {
  const { name } = located(parts);
  const verb = VERBS[method] ?? '';
  if (legacyWatch) return { verb: 'watch' };
  if (name !== '') return { verb };
  if (verb === 'delete') return { verb: 'deletecollection' };
  if (verb !== 'get') return { verb };
  return { verb: watch ? 'watch' : 'list', ...(selectedName !== undefined && { name: selectedName }) };
}
