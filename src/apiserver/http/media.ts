import { meta } from '#api';
import {
  encodeEnvelope,
  encodeJson,
  encodeProtobuf,
  encodeWatchFrame,
  encodeYaml,
  type JsonObject,
  type JsonValue,
  type ObjectSchema,
  StatusError,
} from '#machinery';
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../request/parse-body.ts';

export interface MediaOptions {
  readonly mediaType: string;
  readonly pretty: boolean;
}

interface NamedObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly [field: string]: unknown;
}

/** Kinds that the server itself makes up; their schema is found by name. */
const MESSAGES: Readonly<Record<string, ObjectSchema>> = {
  Status: meta.Status,
  PartialObjectMetadata: meta.PartialObjectMetadata,
  PartialObjectMetadataList: meta.PartialObjectMetadataList,
  APIGroup: meta.APIGroup,
  APIGroupList: meta.APIGroupList,
  APIResourceList: meta.APIResourceList,
  APIVersions: meta.APIVersions,
};

/** Encodes an object in a media type that was negotiated. `schema` is needed for protobuf of anything but the server's own messages. */
export function encodeMedia(value: NamedObject, { mediaType, pretty }: MediaOptions, schema: ObjectSchema | undefined): Buffer {
  switch (mediaType) {
    case JSON_TYPE:
      return Buffer.from(`${pretty ? JSON.stringify(value, null, 2) : encodeJson(value)}\n`);
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
  const known = schema ?? MESSAGES[kind];
  if (known === undefined) throw StatusError.notAcceptable([JSON_TYPE, YAML_TYPE]);
  return encodeEnvelope({ kind, apiVersion }, encodeProtobuf(known, value as JsonObject));
}

/** One event of a watch stream, as the media type frames them. */
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
