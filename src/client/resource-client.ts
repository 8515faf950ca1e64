import { pushAll } from '#base';
import { apiVersionOf } from '#machinery';
import type { Draft, Identified, KubeObject, ObjectKey, ObjectList } from './kube-object.ts';
import { objectPath, type ResourceRef, resourcePath } from './resource-path.ts';
import type { Method, Transport, TransportRequest, WatchSink } from './transport.ts';
import { type WatchEvent, watchEvents } from './watch-events.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called for each warning in a response. Default: the client's callback. */
  readonly onWarning?: (text: string) => void;
}

export interface GetOptions extends CallOptions {
  readonly resourceVersion?: string;
  readonly metadataOnly?: boolean;
}

export interface Selection {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection, CallOptions {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly metadataOnly?: boolean;
}

export interface WatchOptions extends Selection {
  readonly resourceVersion?: string;
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  /** The current state first, terminated by a bookmark. */
  readonly sendInitialEvents?: boolean;
  readonly metadataOnly?: boolean;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  readonly dryRun?: boolean;
}

export interface PatchOptions extends WriteOptions {
  /** Default merge. Strategic is for built-in kinds only. */
  readonly type?: 'merge' | 'strategic' | 'json';
  readonly subresource?: string;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take ownership of conflicting fields. */
  readonly force?: boolean;
  readonly subresource?: string;
}

export interface DeleteOptions extends CallOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  /** Delete only if the uid or resource version matches. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export interface ResourceClientOptions {
  readonly fieldManager?: string | undefined;
  readonly onWarning?: ((text: string) => void) | undefined;
}

/** The objects of one resource. `T` is the type of responses; requests have the shape of the definition. */
export class ResourceClient<T extends Identified = KubeObject> {
  readonly #transport: Transport;
  readonly #options: ResourceClientOptions;
  /** The query of writes without options, shared and immutable. */
  #usualQuery: URLSearchParams | undefined;

  constructor(
    readonly ref: ResourceRef,
    transport: Transport,
    options: ResourceClientOptions = {},
  ) {
    this.#transport = transport;
    this.#options = options;
  }

  get isLocal(): boolean {
    return this.#transport.isLocal;
  }

  async get(key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const query = queryOf({ resourceVersion: options.resourceVersion });
    const metadataOnly = options.metadataOnly ? 'object' : undefined;
    return (await this.#call('GET', objectPath(this.ref, key), { query, metadataOnly, ...callOf(options) })) as T;
  }

  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    const query = queryOf({
      ...selectors(options),
      limit: options.limit,
      continue: options.continue,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    });
    const metadataOnly = options.metadataOnly ? 'list' : undefined;
    const answer = await this.#call('GET', resourcePath(this.ref, options), { query, metadataOnly, ...callOf(options) });
    return named(answer as ListResponse<T>);
  }

  /** All objects of a selection, read in pages. */
  async listAll(options: Omit<ListOptions, 'continue'> = {}): Promise<ObjectList<T>> {
    const { limit = 500 } = options;
    const items: T[] = [];
    for (let token = ''; ; ) {
      const page = await this.list({ ...options, limit, ...(token !== '' && { continue: token }) });
      if (token === '' && !page.metadata.continue) return page;
      pushAll(items, page.items);
      token = page.metadata.continue ?? '';
      if (token === '') return { metadata: { resourceVersion: page.metadata.resourceVersion }, items };
    }
  }

  async create(object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    const path = resourcePath(this.ref, { namespace: this.#namespaceFor(object) });
    return (await this.#write('POST', path, { body: object, options })) as T;
  }

  async update(object: T, options: WriteOptions = {}): Promise<T> {
    return (await this.#write('PUT', objectPath(this.ref, object.metadata), { body: object, options })) as T;
  }

  async updateStatus(object: T, options: WriteOptions = {}): Promise<T> {
    return (await this.#write('PUT', objectPath(this.ref, object.metadata, 'status'), { body: object, options })) as T;
  }

  async patch(key: ObjectKey, patch: object, options: PatchOptions = {}): Promise<T> {
    const path = objectPath(this.ref, key, options.subresource);
    return (await this.#write('PATCH', path, { body: patch, options, contentType: PATCH_TYPES[options.type ?? 'merge'] })) as T;
  }

  /** Server-side apply: the manager owns the fields of `object`. */
  async apply(object: Partial<Draft<T>> & { readonly metadata: ObjectKey }, options: ApplyOptions): Promise<T> {
    const path = objectPath(this.ref, object.metadata, options.subresource);
    const body = { apiVersion: apiVersionOf(this.ref), ...(this.ref.kind && { kind: this.ref.kind }), ...object };
    return (await this.#write('PATCH', path, { body, options, contentType: PATCH_TYPES.apply, force: options.force })) as T;
  }

  /** The deleted object, or its current state if finalizers hold it; some kinds return a Status. */
  async delete(key: ObjectKey, options: DeleteOptions = {}): Promise<T> {
    return (await this.#call('DELETE', objectPath(this.ref, key), { body: deleteBody(options), ...callOf(options) })) as T;
  }

  async deleteCollection(selection: Selection = {}, options: DeleteOptions = {}): Promise<void> {
    const query = queryOf(selectors(selection));
    await this.#call('DELETE', resourcePath(this.ref, selection), { query, body: deleteBody(options), ...callOf(options) });
  }

  /** Watch events until the server ends the watch. Leaving the loop or aborting closes it. */
  watch(options: WatchOptions & CallOptions = {}): AsyncIterable<WatchEvent<T>> {
    return watchEvents<T>((sink) => this.watchInto(options, sink), options.signal);
  }

  /** Like `watch`, but pushed: the sink is called synchronously with each event. Dispose the result to stop. */
  watchInto(options: WatchOptions, sink: WatchSink<T>): Disposable {
    const query = queryOf({
      ...selectors(options),
      watch: true,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
      allowWatchBookmarks: options.allowWatchBookmarks || undefined,
      ...(options.sendInitialEvents && { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true }),
    });
    const path = resourcePath(this.ref, options);
    const metadataOnly = options.metadataOnly ? 'object' : undefined;
    return this.#transport.watch({ method: 'GET', path, query, metadataOnly }, sink as unknown as WatchSink);
  }

  /** A subresource: `scale`, `binding`, `eviction`, `token`, `finalize`… */
  subresource<S = KubeObject>(name: string): SubresourceClient<S> {
    const call = (method: Method, key: ObjectKey, parts: WriteParts | undefined) => {
      const path = objectPath(this.ref, key, name);
      return (parts ? this.#write(method, path, parts) : this.#call(method, path, {})) as Promise<S>;
    };
    return {
      get: (key) => call('GET', key, undefined),
      create: (key, body, options = {}) => call('POST', key, { body, options }),
      update: (key, body, options = {}) => call('PUT', key, { body, options }),
      patch: (key, patch, options = {}) => call('PATCH', key, { body: patch, options, contentType: PATCH_TYPES[options.type ?? 'merge'] }),
    };
  }

  #namespaceFor({ metadata }: Draft<T>): string | undefined {
    if (this.ref.namespaced && !metadata?.namespace) throw new TypeError(`a new object of ${this.ref.resource} needs a namespace`);
    return metadata?.namespace;
  }

  #write(method: Method, path: string, { body, options, contentType, force }: WriteParts): Promise<unknown> {
    const query = this.#writeQuery(options, force);
    return this.#call(method, path, { query, body, ...callOf(options), ...(contentType !== undefined && { contentType }) });
  }

  #writeQuery(
    { fieldManager = this.#options.fieldManager, fieldValidation, dryRun = false }: WriteOptions,
    force = false,
  ): URLSearchParams {
    const isUsual = fieldManager === this.#options.fieldManager && fieldValidation === undefined && !dryRun && !force;
    if (isUsual && this.#usualQuery !== undefined) return this.#usualQuery;
    const query = queryOf({ fieldManager, fieldValidation, dryRun: dryRun ? 'All' : undefined, force: force || undefined });
    if (isUsual) this.#usualQuery = query;
    return query;
  }

  #call(method: Method, path: string, rest: Omit<TransportRequest, 'method' | 'path'>): Promise<unknown> {
    const { onWarning = this.#options.onWarning } = rest;
    return this.#transport.request(Object.assign({ method, path, onWarning }, rest, { onWarning }));
  }
}

export interface SubresourceClient<S> {
  get(key: ObjectKey): Promise<S>;
  create(key: ObjectKey, body: object, options?: WriteOptions): Promise<S>;
  update(key: ObjectKey, body: object, options?: WriteOptions): Promise<S>;
  patch(key: ObjectKey, patch: object, options?: Omit<PatchOptions, 'subresource'>): Promise<S>;
}

interface WriteParts {
  readonly body: object;
  readonly options: WriteOptions;
  readonly contentType?: string;
  readonly force?: boolean | undefined;
}

interface ListResponse<T> extends ObjectList<T> {
  readonly kind?: string;
  readonly apiVersion?: string;
}

/** Items of built-in lists omit kind and apiVersion; they are added here. */
function named<T extends Identified>(list: ListResponse<T>): ObjectList<T> {
  const items = list.items ?? [];
  const { kind = '', apiVersion } = list;
  if (items.length === 0 || items[0]?.kind !== undefined || !kind.endsWith('List') || apiVersion === undefined) {
    return items === list.items ? list : { ...list, items };
  }
  const type = { kind: kind.slice(0, -'List'.length), apiVersion };
  return { ...list, items: items.map((item) => ({ ...type, ...item })) };
}

function selectors({ labelSelector, fieldSelector }: Selection): Record<string, string | undefined> {
  return { labelSelector: labelSelector || undefined, fieldSelector: fieldSelector || undefined };
}

function queryOf(values: Readonly<Record<string, string | number | boolean | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query;
}

function callOf({ signal, onWarning }: CallOptions): Pick<TransportRequest, 'signal' | 'onWarning'> {
  return { signal, onWarning };
}

function deleteBody({ signal: _signal, onWarning: _onWarning, dryRun, ...rest }: DeleteOptions): object {
  return { kind: 'DeleteOptions', apiVersion: 'v1', ...rest, ...(dryRun && { dryRun: ['All'] }) };
}
