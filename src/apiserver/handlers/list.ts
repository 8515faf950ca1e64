import { StatusError } from '#machinery';
import { isResourceVersion, malformedResourceVersion, tooLargeResourceVersion } from '../request/resource-version.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import { listFrom, type Snapshot } from '../watch-cache/resource-cache.ts';
import type { ApiResponse } from './api-response.ts';
import { type ContinueToken, decodeContinue, encodeContinue } from './continue-token.ts';
import type { ListOptions } from './list-options.ts';
import type { ResourceCall } from './resource-call.ts';
import { type Selection, selectionOf, selectsConverted } from './selection.ts';

export interface ListQuery {
  readonly limit: number;
  readonly token: ContinueToken | undefined;
  readonly resourceVersion: string;
  readonly match: string;
}

export async function handleList(call: ResourceCall): Promise<ApiResponse> {
  const { resource } = call;
  const { options, selection } = selectionOf(call, false);
  const { items, ...page } = await listPage(call, options, selection);
  await loadVersions(resource, items);
  return { type: 'list', resource, items: items.map((object) => object.as(resource)), ...page };
}

export interface ListPage {
  readonly items: readonly CachedObject[];
  readonly revision: number;
  readonly continue: string | undefined;
  readonly remaining: number | undefined;
}

export async function listPage(call: ResourceCall, options: ListOptions, selection: Selection): Promise<ListPage> {
  const query = listQuery(options);
  const { snapshot, revision } = await stateFor(call, query);
  const { items, next, remaining } = await selectPage(call, { query, selection, snapshot });
  return {
    items,
    revision,
    continue: next === undefined ? undefined : encodeContinue({ revision, start: next }),
    remaining: selection.matches === undefined && remaining > 0 ? remaining : undefined,
  };
}

function listQuery(options: ListOptions): ListQuery {
  const { limit, resourceVersion, match, continue: continued } = options;
  const token = continued === '' ? undefined : decodeContinue(continued);
  if (token !== undefined && resourceVersion !== '' && resourceVersion !== '0') {
    throw StatusError.badRequest('specifying resource version is not allowed when using continue');
  }
  return { limit: Math.max(0, limit), token, resourceVersion, match };
}

interface State {
  readonly snapshot: Snapshot;
  readonly revision: number;
}

/** The state of the list: current, or that of a continue token or exact resourceVersion. */
async function stateFor(call: ResourceCall, { token, resourceVersion, match, limit }: ListQuery): Promise<State> {
  const { cache } = call.resource.storage;
  await cache.fresh();
  if (token !== undefined && token.revision > 0) return pastState(call, token.revision, token);
  const revision = resourceVersion === '' ? 0 : numeric(resourceVersion);
  if (revision > cache.revision) throw tooLargeResourceVersion(revision, cache.revision);
  const exact = match === 'Exact' || (match === '' && limit > 0 && revision > 0);
  if (exact) return pastState(call, revision);
  const state = { snapshot: cache.snapshot(), revision: cache.revision };
  if (limit > 0) cache.keepSnapshot(state.revision, state.snapshot);
  return state;
}

function numeric(text: string): number {
  if (isResourceVersion(text)) return Number(text);
  throw StatusError.badRequest(`invalid resource version: ${malformedResourceVersion(text)}`);
}

async function pastState(call: ResourceCall, revision: number, token?: ContinueToken): Promise<State> {
  const snapshot = await call.resource.storage.cache.snapshotAt(revision);
  if (snapshot !== undefined) return { snapshot, revision };
  if (token === undefined) throw StatusError.expired('The resourceVersion for the provided list is too old.');
  throw StatusError.expired(CONTINUE_EXPIRED, { continue: encodeContinue({ revision: ANY_REVISION, start: token.start }) });
}

const CONTINUE_EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
/** In a token: continue in the current state. */
const ANY_REVISION = -1;

interface Page {
  readonly items: readonly CachedObject[];
  /** The key at which the next page begins, relative to the prefix. */
  readonly next: string | undefined;
  readonly remaining: number;
}

async function selectPage(
  call: ResourceCall,
  { query, selection, snapshot }: { query: ListQuery; selection: Selection; snapshot: Snapshot },
): Promise<Page> {
  const prefix = call.resource.storage.prefixOf(call.namespace);
  const candidates = listFrom(snapshot, prefix, { start: prefix + (query.token?.start ?? '') });
  const matches = await cachedMatcher(call, candidates, selection);
  if (query.limit === 0) return { items: matches ? candidates.filter(matches) : candidates, next: undefined, remaining: 0 };
  const items: CachedObject[] = [];
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[i]!;
    if (matches && !matches(candidate)) continue;
    if (items.length === query.limit)
      return { items, next: `${items.at(-1)!.key.slice(prefix.length)}\0`, remaining: candidates.length - i };
    items.push(candidate);
  }
  return { items, next: undefined, remaining: 0 };
}

/** Selectors name fields of the served version: behind a conversion webhook all candidates are converted first. */
async function cachedMatcher({ resource }: ResourceCall, candidates: readonly CachedObject[], selection: Selection) {
  const { matches } = selection;
  if (matches === undefined) return undefined;
  if (!selectsConverted(resource, selection)) return ({ object }: CachedObject) => matches(object);
  await loadVersions(resource, candidates);
  return (candidate: CachedObject) => matches(candidate.as(resource).object);
}
