import { meta, type TableDefinition } from '#api';
import { EnvelopeEncoding, encodeProtobuf, type JsonObject } from '#machinery';
import { columnsOf, includeObjectOf, partialMetadata, rowOf, type TableOptions, tableOf } from '../printing/table.ts';
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
  if (negotiated.as !== undefined) return encodeMedia(partialMetadata(object.object), negotiated, undefined);
  return objectBytes(object, resource, negotiated);
}

/** An object that is not kept, in one of the forms that stand for an object. */
export function renderPrinted(object: KubeObject, table: TableDefinition<KubeObject>, { negotiated, query, now }: RenderContext): Buffer {
  if (negotiated.as !== 'Table') return encodeMedia(partialMetadata(object), negotiated, undefined);
  const options = { resource: { strategy: { table } }, now, includeObject: includeObjectOf(query.get('includeObject')) };
  return encodeMedia(tableOf([object], versionOf({ object }), options), negotiated, undefined);
}

function versionOf({ object }: Pick<VersionedObject, 'object'>): Record<string, unknown> {
  const { resourceVersion } = object.metadata;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

function tableOptions(resource: ServedResource, { now, query }: RenderContext): TableOptions {
  return { resource, now, includeObject: includeObjectOf(query.get('includeObject')) };
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
    const items = objects().map(partialMetadata);
    return encodeMedia({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items }, negotiated, undefined);
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
    if (negotiated.as !== undefined) return this.#plain(frame.type, partialMetadata(object.object));
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
    if (this.context.negotiated.as === 'Table') {
      const table = {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: String(revision) },
        columnDefinitions: null,
        rows: [],
      };
      return this.#plain('BOOKMARK', { ...table, rows: [{ cells: [], object: { ...partialMetadata(object as unknown as KubeObject) } }] });
    }
    if (this.context.negotiated.as !== undefined) return this.#plain('BOOKMARK', partialMetadata(object as unknown as KubeObject));
    return this.#plain('BOOKMARK', object, this.resource);
  }

  error(status: { readonly [field: string]: unknown }): Buffer {
    return this.#plain('ERROR', status);
  }

  #table(type: string, object: KubeObject): Buffer {
    const options = {
      resource: this.resource,
      now: this.context.now,
      includeObject: includeObjectOf(this.context.query.get('includeObject')),
    };
    const columnDefinitions = this.#columnsSent ? null : columnsOf(this.resource);
    this.#columnsSent = true;
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    return this.#plain(type, { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, columnDefinitions, rows: [rowOf(object, options)] });
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
