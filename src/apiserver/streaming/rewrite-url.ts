/** The origin of a proxied page, and its location for the client. */
export interface ProxiedPlace {
  /** The backend's `host:port`. */
  readonly sourceHost: string;
  /** The Host header of the client's request. */
  readonly requestHost: string;
  /** The prefix of the client's path. */
  readonly pathPrefix: string;
}

/** Rewrites links to the backend to go through the proxy. Links to other hosts and relative ones are kept. Matches upstream's rewriting. */
export function rewriteUrl(url: string, { sourceHost, requestHost, pathPrefix }: ProxiedPlace): string {
  const { host, path } = splitUrl(url);
  const isOtherHost = host !== '' && host !== sourceHost && host !== requestHost;
  const isOpaque = host === '' && SCHEME.test(url);
  const rooted = host !== '' && path === '' ? '/' : path;
  if (isOtherHost || isOpaque || !rooted.startsWith('/')) return url;
  if (rooted.startsWith(pathPrefix)) return host === requestHost ? url : rooted;
  const rewritten = pathPrefix + rooted;
  return host === requestHost && host !== '' ? url.slice(0, url.length - path.length) + rewritten : rewritten;
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/** Without a host, `host` is empty and `path` the whole URL. */
function splitUrl(url: string): { readonly host: string; readonly path: string } {
  const start = SCHEME.exec(url)?.[0].length ?? 0;
  if (!url.startsWith('//', start)) return { host: '', path: url };
  const rest = url.slice(start + 2);
  const end = rest.search(/[/?#]/);
  return end < 0 ? { host: rest, path: '' } : { host: rest.slice(0, end), path: rest.slice(end) };
}
