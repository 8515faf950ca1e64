/**
 * Whether a pattern such as `*.example.com/team` matches the image. Hosts match label by label with globs, ports exactly, and the pattern's path
 * must be a prefix of the image's. The rules are upstream's for docker configurations and credential providers.
 */
export function matchesImage(pattern: string, image: string): boolean {
  const [glob, target] = [split(pattern), split(image)];
  if (glob === undefined || target === undefined || glob.port !== target.port || glob.labels.length !== target.labels.length) return false;
  return target.path.startsWith(glob.path) && glob.labels.every((label, i) => matchesGlob(label, target.labels[i]!));
}

interface Place {
  readonly labels: readonly string[];
  readonly port: string;
  readonly path: string;
}

function split(text: string): Place | undefined {
  // bounded: one optional prefix.
  const place = text.replace(/^https?:\/\//, '');
  const slash = place.indexOf('/');
  const authority = slash === -1 ? place : place.slice(0, slash);
  const colon = authority.startsWith('[') ? authority.indexOf(':', authority.indexOf(']')) : authority.lastIndexOf(':');
  const host = colon === -1 ? authority : authority.slice(0, colon);
  if (host === '') return undefined;
  return {
    labels: host.startsWith('[') ? [host] : host.split('.'),
    port: colon === -1 ? '' : authority.slice(colon + 1),
    path: slash === -1 ? '' : place.slice(slash),
  };
}

/** `*` matches any text and `?` any character. Linear in practice: DNS labels have at most 63 characters. */
function matchesGlob(glob: string, text: string): boolean {
  let [g, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    if (g < glob.length && (glob[g] === '?' || glob[g] === text[t]) && glob[g] !== '*') {
      g++;
      t++;
    } else if (glob[g] === '*') {
      star = g++;
      mark = t;
    } else if (star !== -1) {
      g = star + 1;
      t = ++mark;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}
