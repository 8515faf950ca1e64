import { meta, type TableDefinition } from '#api';
import { EnvelopeEncoding, encodeProtobuf, type JsonObject, StatusError } from '#machinery';
import { columnsOf, includeObjectOf, META_V1, partialMetadata, rowOf, type TableOptions, tableOf } from '../printing/table.ts';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import type { ListResponse, ObjectResponse } from '../request/api-response.ts';
import type { Negotiated } from '../request/negotiation.ts';
import { JSON_TYPE, PROTOBUF_TYPE } from '../request/parse-body.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';
import type { WatchFrame } from '../watch-cache/watcher.ts';
import { ListBody } from './list-body.ts';
import { encodeMedia, encodeWatchEvent } from './media.ts';

export interface RenderContext {
  readonly negotiated: Negotiated;
  readonly query: URLSearchParams;
  readonly now: number;
}

export function renderObject({ resource, object }: ObjectResponse, context: RenderContext): Buffer {
  const { negotiated } = context;
  if (negotiated.as === 'Table') {
    return encodeMedia(tableOf([object.object], versionOf(object), tableOptions(resource, context)), negotiated, undefined);
  }
  if (negotiated.as === 'PartialObjectMetadataList') throw notRendered(negotiated, `not a list (${goTypeOf(resource, '')})`);
  if (negotiated.as !== undefined) return encodeMedia(partialMetadata(object.object, negotiated.asVersion), negotiated, undefined);
  return objectBytes(object, resource, negotiated);
}

/** An object that is not kept, in one of the forms that stand for an object. */
export function renderPrinted(object: KubeObject, table: TableDefinition<KubeObject>, { negotiated, query, now }: RenderContext): Buffer {
  const apiVersion = negotiated.asVersion;
  if (negotiated.as !== 'Table') return encodeMedia(partialMetadata(object, apiVersion), negotiated, undefined);
  const options = { resource: { strategy: { table } }, now, includeObject: includeObjectOf(query.get('includeObject')), apiVersion };
  return encodeMedia(tableOf([object], versionOf({ object }), options), negotiated, undefined);
}

function versionOf({ object }: Pick<VersionedObject, 'object'>): Record<string, unknown> {
  const { resourceVersion } = object.metadata;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

function tableOptions(resource: ServedResource, { now, query, negotiated }: RenderContext): TableOptions {
  return { resource, now, includeObject: includeObjectOf(query.get('includeObject')), apiVersion: negotiated.asVersion };
}

function notRendered({ as }: Negotiated, what: string): StatusError {
  return new StatusError({ code: 406, reason: 'NotAcceptable', message: `you requested ${as}, but the requested object is ${what}` });
}

/** What upstream calls the type of an object, or of a list of them, inside the server. */
function goTypeOf({ custom, group, kind }: ServedResource, list: '' | 'List'): string {
  if (custom) return `*unstructured.Unstructured${list}`;
  const name = group.split('.', 1)[0]!;
  return `*${name === '' || name === 'events' ? 'core' : name}.${kind}${list}`;
}

function objectBytes(object: VersionedObject, resource: ServedResource, negotiated: Negotiated): Buffer {
  if (negotiated.mediaType === JSON_TYPE && !negotiated.pretty) return object.json();
  const key = negotiated.pretty ? `${negotiated.mediaType};pretty` : negotiated.mediaType;
  return object.encoded(key, (value) => encodeMedia(value, negotiated, resource.schema));
}

export function renderList(list: ListResponse, context: RenderContext): Buffer | ListBody {
  const { negotiated } = context;
  const metadata = listMetadata(list, negotiated.as === undefined && list.resource.itemsNameKind);
  const objects = () => list.items.map((item) => item.object);
  if (negotiated.as === 'Table')
    return encodeMedia(tableOf(objects(), metadata, tableOptions(list.resource, context)), negotiated, undefined);
  if (negotiated.as !== undefined) {
    if (negotiated.as === 'PartialObjectMetadata') throw notRendered(negotiated, `a list (${goTypeOf(list.resource, 'List')})`);
    const apiVersion = negotiated.asVersion ?? META_V1;
    const items = objects().map((object) => partialMetadata(object, apiVersion));
    return encodeMedia({ kind: 'PartialObjectMetadataList', apiVersion, metadata, items }, negotiated, undefined);
  }
  if (negotiated.mediaType === JSON_TYPE && !negotiated.pretty) return new ListBody(list, metadata);
  if (negotiated.mediaType === PROTOBUF_TYPE) return protobufList(list, metadata);
  return encodeMedia(
    { kind: list.resource.listKind, apiVersion: list.resource.apiVersion, metadata, items: objects().map(itemOf(list.resource)) },
    negotiated,
    undefined,
  );
}

function itemOf({ itemsNameKind }: ServedResource): (object: KubeObject) => object {
  return itemsNameKind ? (object) => object : ({ kind: _k, apiVersion: _a, ...rest }) => rest;
}

/** Lists of custom resources name where they go on even when they do not. */
function listMetadata({ revision, continue: next, remaining }: ListResponse, namesContinue: boolean): Record<string, unknown> {
  return {
    ...(revision > 0 && { resourceVersion: String(revision) }),
    ...((next || namesContinue) && { continue: next ?? '' }),
    ...(remaining && { remainingItemCount: remaining }),
  };
}

const BARE_PROTOBUF = 'application/vnd.kubernetes.protobuf;bare';

/** Items keep their encoded bytes. */
function protobufList({ resource, items }: ListResponse, metadata: Record<string, unknown>): Buffer {
  const messages = items.map((item) =>
    item.encoded(BARE_PROTOBUF, (object) => encodeProtobuf(resource.schema, object as unknown as JsonObject)),
  );
  const encoding = new EnvelopeEncoding({ apiVersion: resource.apiVersion, kind: resource.listKind });
  return encoding.wrapList(encodeProtobuf(meta.ListMeta, metadata as JsonObject), messages);
}

/** Encodes watch events for one kind of client; bytes that many clients share are kept with the event. */
export class FrameEncoder {
  readonly #key: string;
  /** Tables describe their columns once a stream. */
  #columnsSent = false;

  constructor(
    private readonly resource: ServedResource,
    private readonly context: RenderContext,
  ) {
    this.#key = `${resource.version};${context.negotiated.mediaType}`;
  }

  encode(frame: WatchFrame): Buffer {
    const { negotiated } = this.context;
    const object = frame.object.as(this.resource);
    if (negotiated.as === 'Table') return this.#table(frame.type, object.object);
    if (negotiated.as !== undefined) return this.#plain(frame.type, partialMetadata(object.object, negotiated.asVersion));
    let bytes = frame.encodings.get(this.#key);
    if (bytes === undefined) {
      bytes =
        negotiated.mediaType === JSON_TYPE ? jsonFrame(frame.type, object.json()) : this.#plain(frame.type, object.object, this.resource);
      frame.encodings.set(this.#key, bytes);
    }
    return bytes;
  }

  bookmark(revision: number, initialEventsEnd: boolean): Buffer {
    const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const { kind, apiVersion } = this.resource;
    const object = { kind, apiVersion, metadata: { resourceVersion: String(revision), ...annotations } };
    const { as, asVersion = META_V1 } = this.context.negotiated;
    if (as === undefined) return this.#plain('BOOKMARK', object, this.resource);
    const partial = partialMetadata(object as unknown as KubeObject, asVersion);
    if (as !== 'Table') return this.#plain('BOOKMARK', partial);
    const metadata = { resourceVersion: String(revision) };
    const rows = [{ cells: [], object: partial }];
    return this.#plain('BOOKMARK', { kind: 'Table', apiVersion: asVersion, metadata, columnDefinitions: null, rows });
  }

  error(status: { readonly [field: string]: unknown }): Buffer {
    return this.#plain('ERROR', status);
  }

  #table(type: string, object: KubeObject): Buffer {
    const options = tableOptions(this.resource, this.context);
    const columnDefinitions = this.#columnsSent ? null : columnsOf(this.resource);
    this.#columnsSent = true;
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const { apiVersion = META_V1 } = options;
    return this.#plain(type, { kind: 'Table', apiVersion, metadata, columnDefinitions, rows: [rowOf(object, options)] });
  }

  #plain(type: string, object: { readonly [field: string]: unknown }, resource?: ServedResource): Buffer {
    const { negotiated } = this.context;
    return encodeWatchEvent(type, object, negotiated, resource?.schema);
  }
}

function jsonFrame(type: string, object: Buffer): Buffer {
  const head = `{"type":"${type}","object":`;
  const bytes = Buffer.allocUnsafe(head.length + object.length + 1);
  bytes.write(head, 0, 'latin1');
  object.copy(bytes, head.length, 0, object.length - 1);
  bytes.write('}\n', bytes.length - 2, 'latin1');
  return bytes;
}
