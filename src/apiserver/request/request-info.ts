import { checkPathSegmentName, parseFieldSelector, SelectorError } from '#machinery';

/** The parsed method and path of a request. */
export interface RequestInfo {
  /** Whether it is a resource request, as opposed to `/healthz`, `/version`, discovery … */
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
  /** Segments after the subresource: the proxied path. */
  readonly rest: readonly string[];
  /** `/api/v1/watch/…`, deprecated in favour of `?watch=1`. */
  readonly legacyWatch: boolean;
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
/** Prefixes that once preceded a resource: /proxy/ was removed, but its errors still name it. */
const PATH_VERBS = ['watch', 'proxy'] as const;
const NOTHING: readonly string[] = [];

export interface RequestLine {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly watch: boolean;
  /** The name in a `metadata.name=` field selector: such lists are authorized as if for that object. */
  readonly selectedName?: string | undefined;
}

export function parseRequestInfo(line: RequestLine): RequestInfo {
  const { path } = line;
  if (path.includes('//')) return nonResource(line);
  const segments = path.split('/');
  const end = segments[segments.length - 1] === '' ? segments.length - 1 : segments.length;
  const isGroup = segments[1] === 'apis';
  const first = isGroup ? 4 : 3;
  if ((segments[1] !== 'api' && !isGroup) || end <= first) return nonResource(line);
  const prefix = end > first + 1 ? PATH_VERBS.find((verb) => verb === segments[first]) : undefined;
  return resourceInfo(line, { segments, end, at: prefix ? first + 1 : first, isGroup, prefix });
}

interface Location {
  readonly segments: readonly string[];
  readonly end: number;
  /** The index of the resource, or of its namespace. */
  readonly at: number;
  readonly isGroup: boolean;
  /** The verb in the path. */
  readonly prefix: (typeof PATH_VERBS)[number] | undefined;
}

function resourceInfo(line: RequestLine, { segments, end, at, isGroup, prefix }: Location): RequestInfo {
  const inNamespace = segments[at] === 'namespaces' && end > at + 2 && !isPartOfNamespace(segments[at + 2]!);
  const start = inNamespace ? at + 2 : at;
  const segment = (index: number) => (index < end ? segments[index]! : '');
  const resource = segment(start);
  const name = segment(start + 1);
  return {
    isResource: true,
    path: line.path,
    verb: prefix ?? verbOf(line, name),
    group: isGroup ? segments[2]! : '',
    version: segments[isGroup ? 3 : 2]!,
    namespace: inNamespace ? segments[at + 1]! : resource === 'namespaces' ? name : '',
    resource,
    subresource: prefix === 'proxy' ? '' : segment(start + 2),
    name: name === '' && line.selectedName !== undefined && isListing(line) ? line.selectedName : name,
    rest: end > start + 3 ? segments.slice(start + 3, end) : NOTHING,
    legacyWatch: prefix === 'watch',
  };
}

/** Below /namespaces/NAME these are subresources of the namespace. */
function isPartOfNamespace(segment: string): boolean {
  return segment === 'status' || segment === 'finalize';
}

/** The name in a field selector, if it is a valid object name. */
export function selectedName(fieldSelector: string | null): string | undefined {
  if (fieldSelector === null) return undefined;
  const name = fieldSelector.includes('\\') ? unescapedName(fieldSelector) : plainName(fieldSelector);
  return name !== undefined && checkPathSegmentName(name).length === 0 ? name : undefined;
}

const NAME_TERM = /^metadata\.name==?(.+)$/s;

function plainName(fieldSelector: string): string | undefined {
  for (const term of fieldSelector.split(',')) {
    const name = NAME_TERM.exec(term)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

function unescapedName(fieldSelector: string): string | undefined {
  try {
    return parseFieldSelector(fieldSelector).requiredValue('metadata.name') || undefined;
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

function isListing({ method }: RequestLine): boolean {
  return method === 'GET' || method === 'HEAD';
}

function verbOf({ method, watch }: RequestLine, name: string): string {
  const verb = VERBS.get(method) ?? '';
  if (name !== '') return verb;
  if (verb === 'delete') return 'deletecollection';
  if (verb !== 'get') return verb;
  return watch ? 'watch' : 'list';
}

function nonResource({ path, method }: RequestLine): RequestInfo {
  const none = { group: '', version: '', namespace: '', resource: '', subresource: '', name: '', rest: NOTHING, legacyWatch: false };
  return { ...none, isResource: false, path, verb: method.toLowerCase() };
}
