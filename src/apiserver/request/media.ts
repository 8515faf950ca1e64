import { meta } from '#api';
import { lookupTable } from '#base';
import {
  encodeEnvelope,
  encodeJson,
  encodeProtobuf,
  encodeWatchFrame,
  encodeYaml,
  indentJson,
  type JsonObject,
  type JsonValue,
  type ObjectSchema,
  StatusError,
} from '#machinery';
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from './parse-body.ts';

export interface MediaOptions {
  readonly mediaType: string;
  readonly pretty: boolean;
}

interface NamedObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly [field: string]: unknown;
}

/** The server's own kinds; their schema is found by name. */
const MESSAGES = lookupTable<ObjectSchema>({
  Status: meta.Status,
  PartialObjectMetadata: meta.PartialObjectMetadata,
  PartialObjectMetadataList: meta.PartialObjectMetadataList,
  APIGroup: meta.APIGroup,
  APIGroupList: meta.APIGroupList,
  APIResourceList: meta.APIResourceList,
  APIVersions: meta.APIVersions,
});

/** Encodes an object in the negotiated media type. `schema` is required for protobuf of other kinds. */
export function encodeMedia(value: NamedObject, { mediaType, pretty }: MediaOptions, schema: ObjectSchema | undefined): Buffer {
  switch (mediaType) {
    case JSON_TYPE:
      return Buffer.from(`${pretty ? indentJson(encodeJson(value)) : encodeJson(value)}\n`);
    case YAML_TYPE:
      return Buffer.from(encodeYaml(value as JsonValue));
    case PROTOBUF_TYPE:
      return encodeInEnvelope(value, schema);
    default:
      throw StatusError.notAcceptable([JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE]);
  }
}

export function canEncode(value: NamedObject, mediaType: string, schema: ObjectSchema | undefined): boolean {
  return mediaType !== PROTOBUF_TYPE || schema !== undefined || MESSAGES[value.kind ?? ''] !== undefined;
}

function encodeInEnvelope(value: NamedObject, schema: ObjectSchema | undefined): Buffer {
  const { kind = '', apiVersion = '' } = value;
  const message = schema ?? MESSAGES[kind];
  if (message === undefined) throw StatusError.notAcceptable([JSON_TYPE, YAML_TYPE]);
  return encodeEnvelope({ kind, apiVersion }, encodeProtobuf(message, value as JsonObject));
}

/** One event of a watch stream, framed for the media type. */
export function encodeWatchEvent(type: string, object: NamedObject, options: MediaOptions, schema: ObjectSchema | undefined): Buffer {
  switch (options.mediaType) {
    case PROTOBUF_TYPE:
      return encodeWatchFrame(type, encodeInEnvelope(object, schema));
    case YAML_TYPE:
      return Buffer.from(`${encodeYaml({ type, object: object as JsonObject })}---\n`);
    default:
      return Buffer.from(`{"type":"${type}","object":${encodeJson(object)}}\n`);
  }
}
