import type { core } from '#api';
import type { KubeObject, Transport, TransportRequest, WatchEventType, WatchSink } from '#client';
import { applyMergePatch, type JsonObject, StatusError } from '#machinery';

interface Place {
  /** The path of the collection of all namespaces. */
  readonly collection: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/**
 * As much of a cluster as a scheduler needs to see, for tests and measurements: objects, watches, bindings, status patches and deletions,
 * without rules, admission or storage.
 */
export class InMemoryCluster implements Transport {
  readonly isLocal = true;
  readonly #collections = new Map<string, Map<string, KubeObject>>();
  readonly #watches = new Map<string, Set<WatchSink>>();
  #revision = 1;
  /** Called before each request is carried out: to count, or to make it fail. */
  onRequest: (request: TransportRequest) => void = () => {};

  objects<T = KubeObject>(collection: string): readonly T[] {
    return [...(this.#collections.get(collection)?.values() ?? [])] as unknown as T[];
  }

  get<T = KubeObject>(collection: string, key: string): T | undefined {
    return this.#collections.get(collection)?.get(key) as T | undefined;
  }

  put(collection: string, object: { readonly metadata: { readonly name: string } }): void {
    const kubeObject = object as unknown as KubeObject;
    const objects = this.#collections.get(collection) ?? new Map<string, KubeObject>();
    this.#collections.set(collection, objects);
    const key = keyOf(kubeObject);
    const before = objects.get(key);
    const uid = kubeObject.metadata.uid ?? before?.metadata.uid ?? `uid-${this.#revision}`;
    const stored = { ...kubeObject, metadata: { ...kubeObject.metadata, uid, resourceVersion: String(++this.#revision) } } as KubeObject;
    objects.set(key, stored);
    this.#notify(collection, before === undefined ? 'ADDED' : 'MODIFIED', stored);
  }

  remove(collection: string, key: string): void {
    const object = this.#collections.get(collection)?.get(key);
    if (object === undefined) return;
    this.#revision++;
    this.#collections.get(collection)?.delete(key);
    this.#notify(collection, 'DELETED', object);
  }

  async request(request: TransportRequest): Promise<unknown> {
    this.onRequest(request);
    const place = placeOf(request.path);
    switch (request.method) {
      case 'GET':
        return this.#read(place);
      case 'POST':
        return this.#create(place, request.body as KubeObject);
      case 'PATCH':
      case 'PUT':
        return this.#change(place, request);
      case 'DELETE':
        this.remove(place.collection, keyText(place));
        return {};
    }
  }

  watch(request: TransportRequest, sink: WatchSink): Disposable {
    this.onRequest(request);
    const { collection } = placeOf(request.path);
    if (request.query?.get('sendInitialEvents') === 'true') this.#show(collection, sink);
    const sinks = this.#watches.get(collection) ?? new Set();
    this.#watches.set(collection, sinks);
    sinks.add(sink);
    return { [Symbol.dispose]: () => void sinks.delete(sink) };
  }

  #show(collection: string, sink: WatchSink): void {
    for (const object of this.objects(collection)) sink.event('ADDED', object);
    sink.bookmark(String(this.#revision), true);
  }

  text(): Promise<string> {
    return Promise.reject(new Error('there are no texts here'));
  }

  // biome-ignore lint/correctness/useYield: there is nothing to stream.
  async *stream(): AsyncIterable<Uint8Array> {
    throw new Error('there are no streams here');
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #read(place: Place): unknown {
    if (place.name !== '') return this.#existing(place);
    return { metadata: { resourceVersion: String(this.#revision) }, items: this.objects(place.collection) };
  }

  #existing(place: Place): KubeObject {
    const object = this.get(place.collection, keyText(place));
    if (object === undefined) throw StatusError.notFound({ group: '', resource: place.collection.split('/').at(-1) ?? '' }, place.name);
    return object;
  }

  #create(place: Place, body: KubeObject): unknown {
    if (place.subresource !== 'binding') {
      const { generateName = '', name = `${generateName}${this.#revision}` } = body.metadata as { generateName?: string; name?: string };
      const named = { ...body, metadata: { ...body.metadata, name } };
      this.put(place.collection, named);
      return this.get(place.collection, keyOf(named as KubeObject));
    }
    const pod = this.#existing(place) as unknown as core.Pod;
    if (pod.spec?.nodeName)
      throw StatusError.conflict({ group: '', resource: 'pods/binding' }, place.name, 'pod is already assigned to a node');
    const nodeName = (body as unknown as core.Binding).target.name ?? '';
    const conditions = [{ type: 'PodScheduled', status: 'True' }];
    this.put(place.collection, { ...pod, spec: { ...pod.spec, nodeName }, status: { ...pod.status, conditions } } as never);
    return {};
  }

  #change(place: Place, { method, body }: TransportRequest): unknown {
    const current = this.#existing(place);
    const changed = method === 'PUT' ? body : applyMergePatch(current as unknown as JsonObject, body as JsonObject);
    this.put(place.collection, changed as never);
    return changed;
  }

  #notify(collection: string, type: WatchEventType, object: KubeObject): void {
    for (const sink of this.#watches.get(collection) ?? []) sink.event(type, object);
  }
}

const NAMESPACED = /^(.*?)\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;
const CLUSTER = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

function placeOf(path: string): Place {
  const namespaced = NAMESPACED.exec(path);
  if (namespaced !== null) {
    const [, version, namespace = '', resource, name = '', subresource = ''] = namespaced;
    return { collection: `${version}/${resource}`, namespace, name, subresource };
  }
  const [, version, resource, name = '', subresource = ''] = CLUSTER.exec(path) ?? [];
  return { collection: `${version}/${resource}`, namespace: '', name, subresource };
}

function keyText({ namespace, name }: Place): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

function keyOf({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}
