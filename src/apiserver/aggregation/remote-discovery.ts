import { apidiscoveryV2, meta } from '#api';
import { decodeObject, type JsonValue, type ObjectSchema } from '#machinery';
import type { Backend, JsonResponse } from './backend.ts';
import { resourcesFromLegacy } from './legacy-discovery.ts';
import type { RemoteApi } from './remote-api.ts';

type VersionDiscovery = apidiscoveryV2.APIVersionDiscovery;

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const TIMEOUT_MS = 5000;
const MAX_BYTES = 4 << 20;
const ASKER = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/** The discovery documents of aggregated servers. */
export class RemoteDiscovery {
  readonly #versions = new Map<string, VersionDiscovery>();
  #generation = 0;

  get generation(): number {
    return this.#generation;
  }

  /** Stale and empty before the first refresh. */
  of({ name, version }: RemoteApi): VersionDiscovery {
    return this.#versions.get(name) ?? { version, freshness: 'Stale' };
  }

  /** Rejects when the request fails; the version is stale then. */
  async refresh(api: RemoteApi, backend: Backend): Promise<void> {
    try {
      this.#set(api.name, { ...(await fetchDiscovery(api, backend)), version: api.version, freshness: 'Current' });
    } catch (error) {
      this.markStale(api);
      throw error;
    }
  }

  markStale({ name, version }: RemoteApi): void {
    if (this.#versions.get(name)?.freshness !== 'Stale') this.#set(name, { version, freshness: 'Stale' });
  }

  forget(name: string): void {
    if (this.#versions.delete(name)) this.#generation++;
  }

  #set(name: string, discovery: VersionDiscovery): void {
    this.#versions.set(name, discovery);
    this.#generation++;
  }
}

async function fetchDiscovery(api: RemoteApi, backend: Backend): Promise<Partial<VersionDiscovery>> {
  const request = { user: ASKER, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
  const answer = await backend.getJson({ ...request, path: '/apis', accept: ACCEPT });
  if (answer.code === 503) throw new Error('the server answered 503 when asked what it serves');
  if (answer.code === 200 && isAggregated(answer)) return versionIn(answer.body, api);
  const legacy = await backend.getJson({ ...request, path: `/apis/${api.group}/${api.version}`, accept: 'application/json' });
  if (legacy.code !== 200) throw new Error(`the server answered ${legacy.code} when asked for ${api.group}/${api.version}`);
  const { resources } = decoded<meta.APIResourceList>(meta.APIResourceList, legacy.body);
  return { resources: resourcesFromLegacy(resources ?? [], api) };
}

function isAggregated({ contentType }: JsonResponse): boolean {
  const parameters = contentType.split(';').map((part) => part.trim());
  return ['g=apidiscovery.k8s.io', 'v=v2', 'as=APIGroupDiscoveryList'].every((parameter) => parameters.includes(parameter));
}

/** Empty if the server does not list the version. */
function versionIn(body: unknown, { group, version }: RemoteApi): Partial<VersionDiscovery> {
  const { items } = decoded<apidiscoveryV2.APIGroupDiscoveryList>(apidiscoveryV2.APIGroupDiscoveryList, body);
  const groupVersion = items
    ?.find(({ metadata }) => metadata?.name === group)
    ?.versions?.find((candidate) => candidate.version === version);
  if (groupVersion === undefined) return {};
  const resources = (groupVersion.resources ?? []).map((resource) => ({
    ...resource,
    // Some client versions crash without it.
    responseKind: resource.responseKind ?? NO_KIND,
    ...(resource.subresources && {
      subresources: resource.subresources.map((sub) => ({ ...sub, responseKind: sub.responseKind ?? NO_KIND })),
    }),
  }));
  return { resources };
}

/** Decodes only declared fields: the response is untrusted. */
function decoded<T>(schema: ObjectSchema, body: unknown): T {
  const { object, error } = decodeObject(schema, body as JsonValue);
  if (error !== undefined) throw new Error(error);
  return object as T;
}

const NO_KIND = { group: '', version: '', kind: '' };
