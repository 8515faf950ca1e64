import type { TableDefinition } from '#api';
import { StatusError } from '#machinery';
import type { ListResponse, ObjectResponse } from '../handlers/api-response.ts';
import { includeObjectOf, META_V1, partialMetadata, type TableOptions, tableHead, tableOf, tableRows } from '../printing/table.ts';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import { encodeMedia } from '../request/media.ts';
import type { NegotiatedFormat } from '../request/negotiation.ts';
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../request/parse-body.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { ListBody } from './list-body.ts';
import { ProtobufListBody } from './protobuf-list-body.ts';
import type { ProtobufMessages } from './protobuf-messages.ts';
import { listItems, TextListBody } from './text-list-body.ts';

export interface RenderContext {
  readonly negotiated: NegotiatedFormat;
  readonly query: URLSearchParams;
  readonly now: number;
  readonly messages: ProtobufMessages;
}

export function renderObject({ resource, object }: ObjectResponse, context: RenderContext): Buffer {
  const { negotiated } = context;
  if (negotiated.as === 'Table') {
    return encodeMedia(tableOf([object.object], versionOf(object), tableOptions(resource, context)), negotiated, undefined);
  }
  if (negotiated.as === 'PartialObjectMetadataList') throw notRendered(negotiated, `not a list (${goTypeOf(resource, '')})`);
  if (negotiated.as !== undefined)
    return encodeMedia(partialMetadata(object.object, resource, negotiated.asVersion), negotiated, undefined);
  return objectBytes(object, resource, context);
}

/** An object that is not stored, in the requested form. */
export function renderPrinted(object: KubeObject, table: TableDefinition<KubeObject>, { negotiated, query, now }: RenderContext): Buffer {
  const apiVersion = negotiated.asVersion;
  const resource = { strategy: { table } };
  if (negotiated.as !== 'Table') return encodeMedia(partialMetadata(object, resource, apiVersion), negotiated, undefined);
  const options = { resource, now, includeObject: includeObjectOf(query.get('includeObject')), apiVersion };
  return encodeMedia(tableOf([object], versionOf({ object }), options), negotiated, undefined);
}

function versionOf({ object }: Pick<VersionedObject, 'object'>): Record<string, unknown> {
  const { resourceVersion } = object.metadata;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

export function tableOptions(resource: ServedResource, { now, query, negotiated }: RenderContext): TableOptions {
  return { resource, now, includeObject: includeObjectOf(query.get('includeObject')), apiVersion: negotiated.asVersion };
}

function notRendered({ as }: NegotiatedFormat, noun: string): StatusError {
  return new StatusError({ code: 406, reason: 'NotAcceptable', message: `you requested ${as}, but the requested object is ${noun}` });
}

/** The Go type name that upstream puts into error messages. */
function goTypeOf({ custom, group, kind }: ServedResource, list: '' | 'List'): string {
  if (custom) return `*unstructured.Unstructured${list}`;
  const name = group.split('.', 1)[0]!;
  return `*${name === '' || name === 'events' ? 'core' : name}.${kind}${list}`;
}

function objectBytes(object: VersionedObject, resource: ServedResource, { negotiated, messages }: RenderContext): Buffer {
  if (negotiated.mediaType === JSON_TYPE && !negotiated.pretty) return object.json();
  if (negotiated.mediaType !== PROTOBUF_TYPE) return encodeMedia(object.object, negotiated, resource.schema);
  return messages.inEnvelope(object, resource);
}

export function renderList(list: ListResponse, context: RenderContext): Buffer | ListBody | ProtobufListBody | TextListBody {
  const { negotiated } = context;
  const metadata = listMetadata(list, negotiated.as === undefined && list.resource.itemsNameKind);
  if (negotiated.as === 'Table') return renderTable(list, metadata, context);
  if (negotiated.as !== undefined) return renderMetadata(list, metadata, negotiated);
  if (negotiated.mediaType === JSON_TYPE && !negotiated.pretty) return new ListBody(list, metadata);
  if (negotiated.mediaType === PROTOBUF_TYPE) return new ProtobufListBody(list, metadata, context.messages);
  const { listKind: kind, apiVersion } = list.resource;
  return new TextListBody({ head: { kind, apiVersion, metadata }, name: 'items', items: listItems(list) }, negotiated);
}

type Metadata = Record<string, unknown>;

function renderTable(list: ListResponse, metadata: Metadata, context: RenderContext): TextListBody {
  const options = tableOptions(list.resource, context);
  if (context.negotiated.mediaType === PROTOBUF_TYPE) throw StatusError.notAcceptable([JSON_TYPE, YAML_TYPE]);
  const objects = list.items.map((item) => item.object);
  return new TextListBody({ head: tableHead(metadata, options), name: 'rows', items: tableRows(objects, options) }, context.negotiated);
}

function renderMetadata(list: ListResponse, metadata: Metadata, negotiated: NegotiatedFormat): Buffer | TextListBody {
  if (negotiated.as === 'PartialObjectMetadata') throw notRendered(negotiated, `a list (${goTypeOf(list.resource, 'List')})`);
  const apiVersion = negotiated.asVersion ?? META_V1;
  const head = { kind: 'PartialObjectMetadataList', apiVersion, metadata };
  const items = metadataItems(list, apiVersion);
  if (negotiated.mediaType === PROTOBUF_TYPE) return encodeMedia({ ...head, items: [...items] }, negotiated, undefined);
  // Upstream encodes an empty list as null.
  if (list.items.length === 0) return encodeMedia({ ...head, items: null }, negotiated, undefined);
  return new TextListBody({ head, name: 'items', items }, negotiated);
}

function* metadataItems({ items, resource }: ListResponse, apiVersion: string): Generator<object> {
  for (const { object } of items) yield partialMetadata(object, resource, apiVersion);
}

/** Lists of custom resources always have `continue`, even if empty. */
function listMetadata({ revision, continue: next, remaining }: ListResponse, namesContinue: boolean): Record<string, unknown> {
  return {
    ...(revision > 0 && { resourceVersion: String(revision) }),
    ...((next || namesContinue) && { continue: next ?? '' }),
    ...(remaining && { remainingItemCount: remaining }),
  };
}
