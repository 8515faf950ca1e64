import { createHash } from 'node:crypto';
import { encodeJson, isJsonObject, type JsonObject, type JsonValue } from '#machinery';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { AggregatedOpenApi } from '../openapi/index.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { Backend } from './backend.ts';
import { partOfV2 } from './openapi-v2-part.ts';
import { v3FromV2 } from './openapi-v3-from-v2.ts';
import type { RemoteApi } from './remote-api.ts';

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 16 << 20;
const ASKER = { name: 'system:aggregator', groups: [] };
const REQUEST = { user: ASKER, accept: 'application/json', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };

/** The OpenAPI state of one aggregated API. */
interface Description {
  readonly backend: Backend;
  /** The path of its v3 document; absent when there is none. */
  readonly address?: string;
  /** v3 converted from v2, if the server has only that. */
  readonly converted?: Buffer;
  readonly v2?: JsonObject;
  readonly v2Etag?: string;
}

/** OpenAPI of aggregated APIs. A server can only describe the versions that it is registered for. */
export class RemoteOpenApi implements AggregatedOpenApi {
  readonly #descriptions = new Map<string, Description>();
  #generation = 0;

  get generation(): number {
    return this.#generation;
  }

  async refresh(api: RemoteApi, backend: Backend): Promise<void> {
    const key = keyOf(api);
    const before = this.#descriptions.get(key);
    const v2 = await fetchV2(api, backend, before);
    const address = await askV3(key, backend);
    const converted = address === undefined && v2.v2 !== undefined ? convertedFrom(v2.v2, before) : undefined;
    const now: Description = {
      backend,
      ...v2,
      ...(address !== undefined && { address }),
      ...(converted && { converted, address: `/openapi/v3/${key}?hash=${hashOf(converted)}` }),
    };
    this.#descriptions.set(key, now);
    if (before?.v2 !== now.v2 || before?.address !== now.address) this.#generation++;
  }

  forget(api: Pick<RemoteApi, 'group' | 'version'>): void {
    if (this.#descriptions.delete(keyOf(api))) this.#generation++;
  }

  addresses(): ReadonlyMap<string, string> {
    const addresses = [...this.#descriptions].flatMap(([key, { address }]): [string, string][] =>
      address === undefined ? [] : [[key, address]],
    );
    return new Map(addresses);
  }

  partsV2(): readonly JsonObject[] {
    return [...this.#descriptions.values()].flatMap(({ v2 }) => (v2 === undefined ? [] : [v2]));
  }

  respond(key: string, request: ApiRequest): ApiResponse | Promise<ApiResponse> | undefined {
    const description = this.#descriptions.get(key);
    if (description?.address === undefined) return undefined;
    const { converted, backend } = description;
    if (converted === undefined) return backend.forward(request);
    return { type: 'raw', code: 200, contentType: 'application/json', body: converted, headers: { etag: `"${hashOf(converted)}"` } };
  }
}

function keyOf({ group, version }: Pick<RemoteApi, 'group' | 'version'>): string {
  return `apis/${group}/${version}`;
}

function hashOf(body: Buffer): string {
  return createHash('sha512').update(body).digest('hex').toUpperCase();
}

function convertedFrom(v2: JsonObject, before: Description | undefined): Buffer {
  if (before?.converted !== undefined && before.v2 === v2) return before.converted;
  return Buffer.from(encodeJson(v3FromV2(v2)));
}

async function fetchV2(
  { group, version }: RemoteApi,
  backend: Backend,
  before: Description | undefined,
): Promise<Pick<Description, 'v2' | 'v2Etag'>> {
  const { code, etag, body } = await backend.getJson({ ...REQUEST, path: '/openapi/v2', etag: before?.v2Etag });
  if (code === 304 && before?.v2 !== undefined) return { v2: before.v2, v2Etag: before.v2Etag! };
  if (code === 404) return {};
  if (code !== 200) throw new Error(`the server answered ${code} when asked for /openapi/v2`);
  return { v2: partOfV2(body, `/apis/${group}/${version}/`), ...(etag && { v2Etag: etag }) };
}

/** Undefined when the server has no v3 document for this API. */
async function askV3(key: string, backend: Backend): Promise<string | undefined> {
  const { code, body } = await backend.getJson({ ...REQUEST, path: '/openapi/v3' });
  if (code !== 200) return undefined;
  const paths = isJsonObject(body as JsonValue) ? (body as JsonObject).paths : undefined;
  const entry = isJsonObject(paths ?? null) ? Object.getOwnPropertyDescriptor(paths, key)?.value : undefined;
  const address = (entry as { readonly serverRelativeURL?: unknown } | undefined)?.serverRelativeURL;
  // Only paths of this server: clients must not be redirected elsewhere.
  return typeof address === 'string' && address.startsWith(`/openapi/v3/${key}`) ? address : undefined;
}
