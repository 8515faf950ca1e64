import { createHash } from 'node:crypto';
import { type Clock, runInTurns, runSteps, TurnBudget } from '#base';
import { encodeJson, isJsonObject, type JsonObject } from '#machinery';
import { registeredGroupVersions } from '../handlers/registered-kinds.ts';
import { buildV2, buildV3, type DocumentOptions, type DocumentPlan, planDocuments } from './documents.ts';
import { type AggregatedOpenApi, mergedV2, NO_AGGREGATED_OPENAPI } from './merged-openapi.ts';
import type { OpenApiResource, OpenApiSource } from './openapi-resource.ts';
import { encodeDocumentV2 } from './v2-protobuf.ts';
import { encodeDocumentV3 } from './v3-protobuf.ts';

/** An encoded document. */
export interface OpenApiDocument {
  readonly body: Buffer;
  /** SHA-512 of the JSON document, in upper-case hex: the etag of all formats, and the `hash` in its URL. */
  readonly hash: string;
  /** The protobuf format, encoded on demand. */
  readonly protobuf: () => Buffer;
}

export interface OpenApiOptions {
  readonly serverVersion: string;
  /** Aggregated servers. Default: none. */
  readonly delegated?: AggregatedOpenApi;
}

/**
 * The OpenAPI documents. Built on demand, and rebuilt only when one of
 * its resources changes.
 */
export class OpenApi {
  private readonly source: OpenApiSource;
  private readonly serverVersion: string;
  private readonly delegated: AggregatedOpenApi;
  private generation = -1;
  private delegatedGeneration = 0;
  private plans: ReadonlyMap<string, DocumentPlan> = new Map();
  private options: DocumentOptions;
  private readonly v3 = new Map<string, { readonly plan: DocumentPlan; readonly document: OpenApiDocument }>();
  private v2: OpenApiDocument | undefined;

  constructor(source: OpenApiSource, { serverVersion, delegated = NO_AGGREGATED_OPENAPI }: OpenApiOptions) {
    this.source = source;
    this.delegated = delegated;
    this.serverVersion = serverVersion;
    this.options = { serverVersion, groupVersions: [] };
  }

  /** The v3 index: the URL of every document. */
  async indexV3(clock: Clock): Promise<Omit<OpenApiDocument, 'protobuf'>> {
    await this.buildAll(clock);
    const keys = [...this.plans.keys()];
    const own = keys.map((key): [string, string] => [key, addressOf(key, this.documentV3(key) as OpenApiDocument)]);
    const addresses = new Map([...own, ...this.delegated.addresses()]);
    const paths = [...addresses].map(([key, serverRelativeURL]) => [key, { serverRelativeURL }]);
    return sealed(Buffer.from(encodeJson({ paths: Object.fromEntries(paths) })));
  }

  /** All documents take a quarter of a second when every version is served: other requests get their turns in between. */
  private async buildAll(clock: Clock): Promise<void> {
    const turn = new TurnBudget(clock);
    this.refresh();
    for (const key of this.plans.keys()) {
      this.documentV3(key);
      if (turn.isSpent) await turn.next();
    }
  }

  /** A v3 document by key, such as `apis/apps/v1`. */
  documentV3(key: string): OpenApiDocument | undefined {
    this.refresh();
    const plan = this.plans.get(key);
    if (plan === undefined) return undefined;
    const cached = this.v3.get(key);
    if (cached !== undefined && samePlan(cached.plan, plan)) return cached.document;
    const { options } = this;
    const document = documentOf(() => buildV3(plan, options), encodeDocumentV3);
    this.v3.set(key, { plan, document });
    return document;
  }

  documentV2(): OpenApiDocument {
    this.refresh();
    this.v2 ??= runSteps(this.stepsV2());
    return this.v2;
  }

  /** Builds the v2 document while other requests get their turns. */
  async prepareV2(clock: Clock): Promise<OpenApiDocument> {
    this.refresh();
    if (this.v2 !== undefined) return this.v2;
    const { generation, delegatedGeneration } = this;
    const document = await runInTurns(this.stepsV2(), clock);
    this.refresh();
    // What was registered meanwhile is in the next one.
    if (generation === this.generation && delegatedGeneration === this.delegatedGeneration) this.v2 ??= document;
    return document;
  }

  private *stepsV2(): Generator<void, OpenApiDocument> {
    const { plans, options } = this;
    const parts = this.delegated.partsV2();
    const build = function* () {
      return mergedV2(yield* buildV2([...plans.values()], options), parts);
    };
    let protobuf: Buffer | undefined;
    const body = yield* encodedSteps(yield* build());
    return {
      ...sealed(body),
      protobuf: () => {
        protobuf ??= encodeDocumentV2(runSteps(build()));
        return protobuf;
      },
    };
  }

  private refresh(): void {
    if (this.delegatedGeneration !== this.delegated.generation) this.v2 = undefined;
    this.delegatedGeneration = this.delegated.generation;
    if (this.generation === this.source.generation) return;
    this.generation = this.source.generation;
    const resources: readonly OpenApiResource[] = [...this.source.all()];
    this.plans = planDocuments(resources);
    this.options = { serverVersion: this.serverVersion, groupVersions: registeredGroupVersions() };
    this.v2 = undefined;
    for (const key of this.v3.keys()) if (!this.plans.has(key)) this.v3.delete(key);
  }
}

/** The URL of a v3 document: it changes with the content, so that clients can cache it. */
export function addressOf(key: string, { hash }: Pick<OpenApiDocument, 'hash'>): string {
  return `/openapi/v3/${key}?hash=${hash}`;
}

function samePlan(a: DocumentPlan, b: DocumentPlan): boolean {
  return a.resources.length === b.resources.length && a.resources.every((resource, i) => resource === b.resources[i]);
}

/** Only the encoded document is kept: protobuf is rarely requested, and documents are large. */
function documentOf(build: () => JsonObject, encode: (document: JsonObject) => Buffer): OpenApiDocument {
  let protobuf: Buffer | undefined;
  return {
    ...sealed(Buffer.from(encodeJson(build()))),
    protobuf: () => {
      protobuf ??= encode(build());
      return protobuf;
    },
  };
}

/** The JSON of a document, member by member of its members. */
function* encodedSteps(document: JsonObject): Generator<void, Buffer> {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(document)) {
    parts.push(`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    if (!isJsonObject(value)) {
      parts.push(encodeJson(value));
      continue;
    }
    let separator = '{';
    for (const [key, member] of Object.entries(value)) {
      parts.push(`${separator}${JSON.stringify(key)}:${encodeJson(member)}`);
      separator = ',';
      yield;
    }
    parts.push(separator === '{' ? '{}' : '}');
  }
  yield;
  return Buffer.from(`${parts.join('')}}`);
}

function sealed(body: Buffer): Pick<OpenApiDocument, 'body' | 'hash'> {
  return { body, hash: createHash('sha512').update(body).digest('hex').toUpperCase() };
}
