import {
  cannotBeHandled,
  decodeEnvelope,
  decodeProtobuf,
  documentPathText,
  goQuote,
  isEnvelope,
  JsonSyntaxError,
  type JsonValue,
  type ObjectSchema,
  type ParsedDocument,
  ProtobufError,
  parseGroupVersion,
  parseJson,
  parseYaml,
  StatusError,
  unrecognizedObject,
  type WrittenMembers,
  YamlError,
} from '#machinery';

export interface ParsedBody {
  readonly value: JsonValue;
  /** What the value does not tell of the text, for a decoder that knows the kind's fields. */
  readonly written?: WrittenMembers;
  /** What field validation finds in the text by itself. */
  readonly problems: readonly string[];
  /** The text, for errors that quote it; absent when it came as protobuf or as an object. */
  readonly bytes: Buffer | undefined;
}

export const JSON_TYPE = 'application/json';
export const YAML_TYPE = 'application/yaml';
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const ACCEPTED = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
const ACCEPTED_CUSTOM = [JSON_TYPE, YAML_TYPE];

export interface ExpectedBody {
  readonly kind: string;
  readonly schema: ObjectSchema;
  readonly custom: boolean;
}

/** The media type in a content type, without its parameters. A body of which nothing is said is JSON. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase() || JSON_TYPE;
}

/** Reads a body by its content type. */
export function parseBody(bytes: Buffer, contentType: string, expected: ExpectedBody): ParsedBody {
  const type = mediaTypeOf(contentType);
  if (type === JSON_TYPE) return jsonBody(bytes, expected);
  if (type === YAML_TYPE) return yamlBody(bytes, expected.kind);
  if (type === PROTOBUF_TYPE && !expected.custom) return { value: protobufBody(bytes, expected), problems: [], bytes: undefined };
  throw StatusError.unsupportedMediaType(expected.custom ? ACCEPTED_CUSTOM : ACCEPTED);
}

/** Custom resources are read as they are written: the last of repeated keys counts, and all of them are reported. */
function jsonBody(bytes: Buffer, { kind, custom }: ExpectedBody): ParsedBody {
  const { value, duplicates, written } = parsedJson(bytes, kind);
  if (custom) return { value, problems: duplicateProblems(duplicates), bytes };
  return { value, problems: [], ...(written && { written }), bytes };
}

export function duplicateProblems(duplicates: ParsedDocument['duplicates']): readonly string[] {
  return duplicates.map((path) => `duplicate field ${goQuote(documentPathText(path))}`);
}

function parsedJson(bytes: Buffer, kind: string): ParsedDocument {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unrecognizedObject(kind, `couldn't get version/kind; json parse error: ${error.message}`, bytes);
  }
}

function yamlBody(bytes: Buffer, kind: string): ParsedBody {
  try {
    const { value, problems } = parseYaml(bytes);
    return { value, problems: problems.length === 0 ? [] : [yamlProblem(problems)], bytes };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw unrecognizedObject(kind, error.message, bytes);
  }
}

const YAML_PROBLEM = 'yaml: unmarshal errors:\n  ';

/** Upstream's YAML library lists what it finds in one message… */
function yamlProblem(lines: readonly string[]): string {
  return YAML_PROBLEM + lines.join('\n  ');
}

/** …which makes one warning a line. */
export function warningsOf(problem: string): readonly string[] {
  return problem.startsWith(YAML_PROBLEM) ? problem.slice(YAML_PROBLEM.length).split('\n  ') : [problem];
}

function protobufBody(bytes: Buffer, { kind, schema }: ExpectedBody): JsonValue {
  try {
    if (!isEnvelope(bytes))
      throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
    const envelope = decodeEnvelope(bytes);
    // Another kind than expected is told by its name, which needs no fields.
    if (envelope.kind !== '' && envelope.kind !== kind) return { kind: envelope.kind, apiVersion: envelope.apiVersion };
    const stated = { ...(envelope.kind && { kind: envelope.kind }), ...(envelope.apiVersion && { apiVersion: envelope.apiVersion }) };
    return { ...decodeProtobuf(schema, envelope.message), ...stated };
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw cannotBeHandled({ ...parseGroupVersion('v1'), kind }, kind, error.message);
  }
}
