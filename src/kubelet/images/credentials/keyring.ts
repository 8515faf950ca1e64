import type { AuthConfig } from '../../cri/runtime.ts';
import type { PullAccount, PullSecret } from '../pull-records.ts';
import { matchesImage } from './registry-pattern.ts';

export interface KeyringEntry {
  /** A host, optionally with port, path and globs. */
  readonly pattern: string;
  readonly auth: AuthConfig;
  /** The credential's secret; absent: the node's own credentials. */
  readonly secret?: PullSecret;
  /** The service account whose token it was obtained with; absent: any. */
  readonly serviceAccount?: PullAccount;
}

/** The registry of names without a host. */
const DEFAULT_REGISTRY = 'index.docker.io';

/** Registry credentials. */
export class Keyring {
  readonly #entries: readonly KeyringEntry[];

  constructor(entries: readonly KeyringEntry[]) {
    const keyed = entries.map((entry) => ({ ...entry, pattern: keyOf(entry.pattern) }));
    // Longer paths of the same host first.
    this.#entries = keyed.sort((a, b) => (a.pattern === b.pattern ? 0 : a.pattern > b.pattern ? -1 : 1));
  }

  /** The matching credentials for a repository, most specific first. */
  lookup(repository: string): readonly AuthConfig[] {
    return this.entries(repository).map(({ auth }) => auth);
  }

  /** The same, with their source. */
  entries(repository: string): readonly KeyringEntry[] {
    const fitting = this.#entries.filter(({ pattern }) => matchesImage(pattern, repository));
    if (fitting.length > 0 || !isOfDefaultRegistry(repository)) return fitting;
    return this.#entries.filter(({ pattern }) => pattern === DEFAULT_REGISTRY);
  }
}

/** Docker's configuration names registries by their API URL. */
function keyOf(pattern: string): string {
  const place = pattern.replace(/^https?:\/\//, '');
  const slash = place.indexOf('/');
  if (slash === -1) return place;
  const path = place.slice(slash);
  const rest = path.startsWith('/v1/') || path.startsWith('/v2/') ? path.slice(3) : path;
  return place.slice(0, slash) + (rest === '/' || rest === '/v1' || rest === '/v2' ? '' : rest);
}

function isOfDefaultRegistry(repository: string): boolean {
  const slash = repository.indexOf('/');
  if (slash === -1) return repository !== '';
  const first = repository.slice(0, slash);
  return first === 'docker.io' || first === DEFAULT_REGISTRY || (first !== '' && !/[.:]/.test(first));
}
