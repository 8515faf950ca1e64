import { runSteps } from '#base';
import {
  cannotBeHandledError,
  decodeEnvelope,
  decodeProtobuf,
  documentPathText,
  type Envelope,
  goQuote,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  type ObjectSchema,
  type ParsedDocument,
  ProtobufError,
  parseGroupVersion,
  parseJson,
  StatusError,
  unrecognizedObject,
  type WrittenMembers,
  YamlError,
  yamlSteps,
} from '#machinery';

export interface ParsedBody {
  readonly value: JsonValue;
  /** Members as written, for the decoder of the kind. */
  readonly written?: WrittenMembers;
  /** Problems that field validation reports about the text. */
  readonly problems: readonly string[];
  /** The text, for errors that quote it; undefined for protobuf and in-process objects. */
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

/** The media type without parameters. JSON if there is no content type. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase() || JSON_TYPE;
}

/** Reads a body by its content type. */
export function parseBody(bytes: Buffer, contentType: string, expected: ExpectedBody): ParsedBody {
  const type = mediaTypeOf(contentType);
  if (type === JSON_TYPE) return jsonBody(bytes, expected);
  if (type === YAML_TYPE) return runSteps(yamlBody(bytes, expected.kind));
  if (type === PROTOBUF_TYPE && !expected.custom) return { value: protobufBody(bytes, expected), problems: [], bytes: undefined };
  throw StatusError.unsupportedMediaType(expected.custom ? ACCEPTED_CUSTOM : ACCEPTED);
}

/** Custom resources: of repeated keys the last one wins, and all are reported. */
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

/** Reads a YAML body, with pauses. */
export function* yamlBody(bytes: Buffer, kind: string): Generator<void, ParsedBody> {
  try {
    const { value, problems } = yield* yamlSteps(bytes);
    return { value, problems: problems.length === 0 ? [] : [yamlProblem(problems)], bytes };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw unrecognizedObject(kind, error.message, bytes);
  }
}

const YAML_PROBLEM = 'yaml: unmarshal errors:\n  ';

/** Upstream's YAML library reports all problems in one message… */
function yamlProblem(lines: readonly string[]): string {
  return YAML_PROBLEM + lines.join('\n  ');
}

/** …which becomes one warning per line. */
export function warningsOf(problem: string): readonly string[] {
  return problem.startsWith(YAML_PROBLEM) ? problem.slice(YAML_PROBLEM.length).split('\n  ') : [problem];
}

function protobufBody(bytes: Buffer, expected: ExpectedBody): JsonValue {
  return decodeMessage(openEnvelope(bytes, expected), expected);
}

/** The message in a protobuf envelope, and its kind. */
export function openEnvelope(bytes: Buffer, { kind }: ExpectedBody): Envelope {
  return orCannotBeHandled(kind, () => decodeEnvelope(bytes));
}

export function decodeMessage({ kind, apiVersion, message }: Envelope, expected: ExpectedBody): JsonObject {
  // A mismatching kind is reported by name, without decoding fields.
  if (kind !== '' && kind !== expected.kind) return { kind, apiVersion };
  const object = orCannotBeHandled(expected.kind, () => decodeProtobuf(expected.schema, message));
  return { ...object, ...(kind && { kind }), ...(apiVersion && { apiVersion }) };
}

function orCannotBeHandled<T>(kind: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw cannotBeHandledError({ ...parseGroupVersion('v1'), kind }, kind, error.message);
  }
}
