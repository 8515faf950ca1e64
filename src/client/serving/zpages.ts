/** What `/statusz` says about a component. */
export interface StatuszFacts {
  /** Upstream's name of the program: `kube-scheduler`. */
  readonly name: string;
  readonly version: string;
  readonly startedMs: number;
  readonly nowMs: number;
  readonly paths: readonly string[];
}

export interface ZpageResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const GROUP = 'config.k8s.io';
const TEXT = ['text/plain', 'text/*', '*/*'];
const MAX_CLAUSES = 32;

/** `/statusz` as text, or as an object for clients that accept `application/json;as=Statusz;v=v1beta1;g=config.k8s.io`. */
export function statuszResponse(facts: StatuszFacts, accept: string | undefined): ZpageResponse {
  const { name, version, startedMs, nowMs, paths } = facts;
  const uptimeSeconds = Math.max(0, Math.floor((nowMs - startedMs) / 1000));
  const sorted = paths.toSorted();
  const text = [
    `Started: ${new Date(startedMs).toUTCString()}`,
    `Up: ${uptimeSeconds} s`,
    `Node.js version: ${process.version}`,
    `Binary version: ${version}`,
    `Paths: ${sorted.join(' ')}`,
  ];
  const startTime = new Date(startedMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const fields = { startTime, uptimeSeconds, goVersion: 'none', binaryVersion: version, paths: sorted };
  return answer({ page: 'statusz', kind: 'Statusz', name, text, fields }, accept);
}

/** `/flagz`: the flags that were set, as text or as an object of kind `Flagz`. */
export function flagzResponse(name: string, flags: ReadonlyMap<string, string>, accept: string | undefined): ZpageResponse {
  const text = [...flags].map(([flag, value]) => `${flag}=${value}`).toSorted();
  return answer({ page: 'flagz', kind: 'Flagz', name, text, fields: { flags: Object.fromEntries(flags) } }, accept);
}

interface Page {
  readonly page: string;
  readonly kind: string;
  readonly name: string;
  readonly text: readonly string[];
  readonly fields: object;
}

function answer({ page, kind, name, text, fields }: Page, accept: string | undefined): ZpageResponse {
  const version = accept?.trim() ? versionOf(accept, kind) : 'text';
  if (version === undefined) {
    const types = `application/json;as=${kind};v=v1beta1;g=${GROUP}, text/plain`;
    return { code: 406, headers: textHeaders(), body: `only the following media types are accepted: ${types}\n` };
  }
  if (version === 'text') {
    const body = `\n${name} ${page}\nNot for programs: its form may change.\n\n${text.join('\n')}\n`;
    return { code: 200, headers: textHeaders(), body };
  }
  const warning = `299 - "This version of the ${page} endpoint is deprecated. Please use a newer version."`;
  const body = JSON.stringify({ kind, apiVersion: `${GROUP}/${version}`, metadata: { name }, ...fields });
  return { code: 200, headers: { 'content-type': 'application/json', ...(version === 'v1alpha1' && { warning }) }, body };
}

function textHeaders(): Readonly<Record<string, string>> {
  return { 'content-type': 'text/plain; charset=utf-8' };
}

/** The first acceptable form. Undefined: there is none. */
function versionOf(accept: string, kind: string): 'text' | 'v1alpha1' | 'v1beta1' | undefined {
  for (const clause of accept.split(',', MAX_CLAUSES)) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
    if (TEXT.includes(type)) return 'text';
    const value = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]));
    const version = value.get('v');
    const isRequestedKind = type === 'application/json' && value.get('g') === GROUP && value.get('as') === kind;
    if (isRequestedKind && (version === 'v1alpha1' || version === 'v1beta1')) return version;
  }
  return undefined;
}
