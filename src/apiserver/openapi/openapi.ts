import { createHash } from 'node:crypto';
import { encodeJson } from '#machinery';
import { buildV2, buildV3, builtInGroupVersions, type DocumentOptions, type DocumentPlan, planDocuments } from './documents.ts';
import type { OpenApiResource, OpenApiSource } from './openapi-resource.ts';
import { encodeDocumentV2 } from './v2-protobuf.ts';

/** A document as it is sent. */
export interface OpenApiDocument {
  readonly body: Buffer;
  /** SHA-512 of the body, in upper-case hex: its etag, and the `hash` in its address. */
  readonly hash: string;
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
  private v2Protobuf: OpenApiDocument | undefined;

  constructor(source: OpenApiSource, { serverVersion }: { readonly serverVersion: string }) {
    this.source = source;
    this.serverVersion = serverVersion;
    this.options = { serverVersion, groupVersions: [] };
  }

  /** The index of version 3: the address of every document, which names its content. */
  indexV3(): OpenApiDocument {
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
    const document = sealed(Buffer.from(encodeJson(buildV3(plan, this.options))));
    this.v3.set(key, { plan, document });
    return document;
  }

  documentV2(): OpenApiDocument {
    this.refresh();
    this.v2 ??= sealed(Buffer.from(encodeJson(buildV2([...this.plans.values()], this.options))));
    return this.v2;
  }

  documentV2Protobuf(): OpenApiDocument {
    this.refresh();
    this.v2Protobuf ??= sealed(encodeDocumentV2(buildV2([...this.plans.values()], this.options)));
    return this.v2Protobuf;
  }

  private refresh(): void {
    if (this.generation === this.source.generation) return;
    this.generation = this.source.generation;
    const resources: readonly OpenApiResource[] = [...this.source.all()];
    this.plans = planDocuments(resources);
    this.options = { serverVersion: this.serverVersion, groupVersions: builtInGroupVersions(resources) };
    this.v2 = undefined;
    this.v2Protobuf = undefined;
    for (const key of this.v3.keys()) if (!this.plans.has(key)) this.v3.delete(key);
  }
}

/** The address of a document of version 3: it changes with the content, so that clients may keep what they have. */
export function addressOf(key: string, { hash }: OpenApiDocument): string {
  return `/openapi/v3/${key}?hash=${hash}`;
}

function samePlan(a: DocumentPlan, b: DocumentPlan): boolean {
  return a.resources.length === b.resources.length && a.resources.every((resource, i) => resource === b.resources[i]);
}

function sealed(body: Buffer): OpenApiDocument {
  return { body, hash: createHash('sha512').update(body).digest('hex').toUpperCase() };
}
