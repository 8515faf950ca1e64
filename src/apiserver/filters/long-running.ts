import type { RequestInfo } from '../request/request-info.ts';

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const LONG_RUNNING_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Requests without a deadline, as upstream defines them: watches and streams. */
export function isLongRunning({ verb, isResource, subresource }: RequestInfo): boolean {
  return verb === 'watch' || verb === 'proxy' || (isResource && LONG_RUNNING_SUBRESOURCES.has(subresource));
}

export function isMutating({ verb }: RequestInfo): boolean {
  return !READ_VERBS.has(verb);
}
