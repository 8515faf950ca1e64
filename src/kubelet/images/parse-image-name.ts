const DEFAULT_DOMAIN = 'docker.io';

/**
 * The normalized name as containerd uses it: `busybox` is `docker.io/library/busybox:latest`. Throws on invalid names. The rules are those
 * of Docker's reference grammar.
 */
export function fullImageName(name: string): string {
  const { domain, path, tag, digest } = parseImageName(name);
  return `${domain}/${path}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

export interface ImageName {
  readonly domain: string;
  readonly path: string;
  /** Undefined when there is a digest. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

export function parseImageName(name: string): ImageName {
  if (name.length > 1_000) throw invalid(name.slice(0, 100));
  const at = name.indexOf('@');
  const digest = at === -1 ? undefined : name.slice(at + 1);
  const tagged = at === -1 ? name : name.slice(0, at);
  const colon = tagged.lastIndexOf(':');
  const hasTag = colon > tagged.lastIndexOf('/');
  const tag = hasTag ? tagged.slice(colon + 1) : undefined;
  const { domain, path } = splitDomain(hasTag ? tagged.slice(0, colon) : tagged);
  const isValid =
    isDomain(domain) &&
    path.length <= 255 &&
    path.split('/').every(isPathPart) &&
    (tag === undefined || /^\w[\w.-]{0,127}$/.test(tag)) &&
    (digest === undefined || /^sha256:[0-9a-f]{64}$|^sha512:[0-9a-f]{128}$/.test(digest));
  if (!isValid) throw invalid(name);
  return { domain, path, tag: tag ?? (digest === undefined ? 'latest' : undefined), digest };
}

/** The part before the first slash is a host unless it can be a path component. */
function splitDomain(name: string): { domain: string; path: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const isHost = slash !== -1 && (first.includes('.') || first.includes(':') || first === 'localhost' || first !== first.toLowerCase());
  const domain = isHost ? (first === 'index.docker.io' ? DEFAULT_DOMAIN : first) : DEFAULT_DOMAIN;
  const rest = isHost ? name.slice(slash + 1) : name;
  return { domain, path: domain === DEFAULT_DOMAIN && !rest.includes('/') ? `library/${rest}` : rest };
}

function isDomain(domain: string): boolean {
  return /^(?:\[[0-9a-fA-F:]+\]|[a-zA-Z0-9][a-zA-Z0-9.-]*)(?::[0-9]+)?$/.test(domain) && domain.length <= 255;
}

/** Letters and digits with single separators (`.`, `_`, `__` or any number of `-`) between them. */
function isPathPart(part: string): boolean {
  return /^[a-z0-9._-]+$/.test(part) && /^[a-z0-9]/.test(part) && /[a-z0-9]$/.test(part) && !/\.[._-]|_[.-]|-[._]|___/.test(part);
}

function invalid(name: string): Error {
  return new Error(`${JSON.stringify(name)} is not the name of an image`);
}
