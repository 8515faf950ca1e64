/** containerd's message after `failed to resolve image: ` for a registry's HTTP status. */
const ANSWERS: ReadonlyMap<string, (reference: string) => string> = new Map<string, (reference: string) => string>([
  ['401', () => 'authorization failed: no basic auth credentials'],
  ['403', () => 'unexpected status from HEAD request: 403 Forbidden'],
  ['404', (reference) => `${reference}: not found`],
  ['429', () => 'unexpected status from HEAD request: 429 Too Many Requests'],
  ['500', () => 'unexpected status from HEAD request: 500 Internal Server Error'],
  ['503', () => 'unexpected status from HEAD request: 503 Service Unavailable'],
]);

/**
 * Why a simulated registry does not have an image; undefined if it does. Every image exists except those on hosts below
 * `.invalid`, which never resolve (RFC 6761), and those whose tag is an HTTP error status, which the registry returns.
 */
export function registryError(image: string): string | undefined {
  const [name = '', digest] = image.split('@', 2);
  const [first = ''] = name.split('/', 1);
  const reason = isInvalidHost(first) ? `dial tcp: lookup ${first.split(':', 1)[0]}: no such host` : undefined;
  const answer = digest === undefined ? ANSWERS.get(tagOf(name))?.(name) : undefined;
  const problem = reason ?? answer;
  return problem && `failed to pull and unpack image "${image}": failed to resolve image: ${problem}`;
}

function isInvalidHost(host: string): boolean {
  const [name = ''] = host.split(':', 1);
  return name === 'invalid' || name.endsWith('.invalid');
}

function tagOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last.includes(':') ? last.slice(last.indexOf(':') + 1) : '';
}
