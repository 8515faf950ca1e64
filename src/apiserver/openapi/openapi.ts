import { createHash } from 'node:crypto';
import { encodeJson, type JsonObject } from '#machinery';
import { buildV2, buildV3, builtInGroupVersions, type DocumentOptions, type DocumentPlan, planDocuments } from './documents.ts';
import type { OpenApiResource, OpenApiSource } from './openapi-resource.ts';
import { encodeDocumentV2 } from './v2-protobuf.ts';
import { encodeDocumentV3 } from './v3-protobuf.ts';

/** A document as it is sent. */
export interface OpenApiDocument {
  readonly body: Buffer;
  /** SHA-512 of the document in JSON, in upper-case hex: the etag of all its forms, and the `hash` in its address. */
  readonly hash: string;
  /** The same in protobuf, made when someone asks for it. */
  readonly protobuf: () => Buffer;
}

/**
 * The description of what the server serves. Nothing is built before someone asks for it; a document is built once and again only when one
 * of its resources changes.
 */
export class OpenApi {
  private readonly source: OpenApiSource;
  private readonly serverVersion: string;
  private generation = -1;
  private plans: ReadonlyMap<string, DocumentPlan> = new Map();
  private options: DocumentOptions;
  private readonly v3 = new Map<string, { readonly plan: DocumentPlan; readonly document: OpenApiDocument }>();
  private v2: OpenApiDocument | undefined;

  constructor(source: OpenApiSource, { serverVersion }: { readonly serverVersion: string }) {
    this.source = source;
    this.serverVersion = serverVersion;
    this.options = { serverVersion, groupVersions: [] };
  }

  /** The index of version 3: the address of every document, which names its content. */
  indexV3(): Omit<OpenApiDocument, 'protobuf'> {
    this.refresh();
    const keys = [...this.plans.keys()];
    const paths = keys.map((key) => [key, { serverRelativeURL: addressOf(key, this.documentV3(key) as OpenApiDocument) }]);
    return sealed(Buffer.from(encodeJson({ paths: Object.fromEntries(paths) })));
  }

  /** A document of version 3 by its key, such as `apis/apps/v1`. */
  documentV3(key: string): OpenApiDocument | undefined {
    this.refresh();
    const plan = this.plans.get(key);
    if (plan === undefined) return undefined;
    const known = this.v3.get(key);
    if (known !== undefined && samePlan(known.plan, plan)) return known.document;
    const { options } = this;
    const document = documentOf(() => buildV3(plan, options), encodeDocumentV3);
    this.v3.set(key, { plan, document });
    return document;
  }

  documentV2(): OpenApiDocument {
    this.refresh();
    const { plans, options } = this;
    this.v2 ??= documentOf(() => buildV2([...plans.values()], options), encodeDocumentV2);
    return this.v2;
  }

  private refresh(): void {
    if (this.generation === this.source.generation) return;
    this.generation = this.source.generation;
    const resources: readonly OpenApiResource[] = [...this.source.all()];
    this.plans = planDocuments(resources);
    this.options = { serverVersion: this.serverVersion, groupVersions: builtInGroupVersions(resources) };
    this.v2 = undefined;
    for (const key of this.v3.keys()) if (!this.plans.has(key)) this.v3.delete(key);
  }
}

/** The address of a document of version 3: it changes with the content, so that clients may keep what they have. */
export function addressOf(key: string, { hash }: Pick<OpenApiDocument, 'hash'>): string {
  return `/openapi/v3/${key}?hash=${hash}`;
}

function samePlan(a: DocumentPlan, b: DocumentPlan): boolean {
  return a.resources.length === b.resources.length && a.resources.every((resource, i) => resource === b.resources[i]);
}

/** What is built is encoded and forgotten: few ask for protobuf, and the documents are large. */
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

function sealed(body: Buffer): Pick<OpenApiDocument, 'body' | 'hash'> {
  return { body, hash: createHash('sha512').update(body).digest('hex').toUpperCase() };
}
