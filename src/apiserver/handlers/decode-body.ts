import { KINDS, meta } from '#api';
import {
  cannotBeHandled,
  type DecodedObject,
  type DocumentPath,
  decodeObject,
  FieldError,
  goJsonKind,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ObjectSchema,
  Path,
  parseGroupVersion,
  StatusError,
  strictDecodingError,
  unrecognizedObject,
} from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import { type ApiRequest, warn } from '../request/api-request.ts';
import { type ParsedBody, parseBody } from '../request/parse-body.ts';
import type { ResourceCall } from './resource-call.ts';
import type { FieldValidation } from './write-options.ts';

/** The most that a request may send. */
export const BODY_LIMIT = 3 * 1024 * 1024;

/** What a body is to be read as. */
export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly schema: ObjectSchema;
  readonly custom: boolean;
  /** Other versions in which it may come, with the same fields. */
  readonly alsoVersions?: readonly string[];
  readonly decode?: (value: JsonValue, duplicates: readonly DocumentPath[]) => DecodedObject;
}

/** The object in the request's body: canonical, defaulted, in the version of the request. */
export async function decodeBody(call: ResourceCall, validation: FieldValidation): Promise<KubeObject> {
  const object = await decodeBodyAs(call.request, call.resource, validation);
  return call.resource.strategy.defaults?.(object as KubeObject) ?? (object as KubeObject);
}

export async function decodeBodyAs(request: ApiRequest, expected: ExpectedKind, validation: FieldValidation): Promise<JsonObject> {
  const parsed = await parseRequest(request, expected);
  const value = named(parsed.value, expected, parsed);
  const object = checkedDecode({ request, expected, validation, duplicates: parsed.duplicates }, value);
  return withReset(object as unknown as KubeObject, value) as unknown as JsonObject;
}

/** An empty list of managed fields asks to forget them all; as a field like any other it would vanish in decoding. */
export function withReset(object: KubeObject, sent: JsonValue): KubeObject {
  const { metadata } = sent as { metadata?: { managedFields?: unknown } | null };
  const managedFields = metadata?.managedFields;
  if (!Array.isArray(managedFields) || managedFields.length > 0) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: [] } };
}

async function parseRequest(request: ApiRequest, expected: ExpectedKind): Promise<ParsedBody> {
  const { body } = request;
  if (body.type === 'object') return { value: body.value as JsonValue, duplicates: [], bytes: undefined };
  return parseBody(await body.read(BODY_LIMIT), body.contentType, expected);
}

/** The body of a request that may have none, such as a deletion. */
export async function readBodyValue({ request }: { request: ApiRequest }): Promise<JsonValue | undefined> {
  const { body } = request;
  if (body.type === 'object') return body.value as JsonValue | undefined;
  const bytes = await body.read(BODY_LIMIT);
  if (bytes.length === 0) return undefined;
  const expected = { kind: 'DeleteOptions', schema: meta.DeleteOptions, custom: false };
  return parseBody(bytes, body.contentType, expected).value;
}

/** Checks that the body says it is what the path expects. One that says nothing is taken to be that. */
function named(value: JsonValue, expected: ExpectedKind, parsed: ParsedBody): JsonValue {
  if (value === null && !expected.custom) return named({}, expected, parsed);
  if (!isJsonObject(value)) throw notAnObject(value, expected, parsed);
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
  if (expected.custom && !kind) throw missing('Kind', expected, parsed);
  if (expected.custom && !apiVersion) throw missing('apiVersion', expected, parsed);
  const statedKind = typeof kind === 'string' && kind !== '' ? kind : expected.kind;
  const isStated = typeof apiVersion === 'string' && apiVersion !== '' && !expected.alsoVersions?.includes(apiVersion);
  const statedVersion = isStated ? apiVersion : expected.apiVersion;
  if (statedKind === expected.kind && statedVersion === expected.apiVersion) {
    return kind === statedKind && apiVersion === statedVersion ? value : { ...value, kind: statedKind, apiVersion: statedVersion };
  }
  if (expected.custom && statedVersion === expected.apiVersion) throw wrongCustomKind(statedKind, value, expected);
  throw mismatch(statedKind, statedVersion, expected);
}

/** Custom kinds are read before anyone asks which they are, so this is a matter of validation. */
function wrongCustomKind(kind: string, value: JsonObject, expected: ExpectedKind): StatusError {
  const { name } = (isJsonObject(value.metadata) ? value.metadata : {}) as { name?: string };
  return StatusError.invalid({ group: expected.group, kind }, name ?? '', [
    FieldError.invalid(Path.of('kind'), kind, `must be ${expected.kind}`),
  ]);
}

/** In the words of upstream's decoder, which looks for the kind of a document first. */
function notAnObject(value: JsonValue, { kind }: ExpectedKind, { bytes }: ParsedBody): StatusError {
  const wanted = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${goJsonKind(value)} into Go value of type ${wanted}`;
  return unrecognizedObject(kind, why, bytes ?? Buffer.alloc(0));
}

function missing(what: 'Kind' | 'apiVersion', expected: ExpectedKind, { bytes }: ParsedBody): StatusError {
  const text = bytes?.toString('utf8') ?? '';
  return unrecognizedObject(expected.kind, `Object '${what}' is missing in '${text}'`, bytes ?? Buffer.alloc(0));
}

function mismatch(kind: string, apiVersion: string, expected: ExpectedKind): StatusError {
  const { group, version } = parseGroupVersion(apiVersion);
  const sameGroup = group === expected.group;
  if (kind === expected.kind && (expected.custom || sameGroup || KNOWN_OLD_VERSIONS.has(apiVersion))) {
    return StatusError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`,
    );
  }
  const isKnown = !expected.custom && KINDS.some((known) => known.kind === kind && known.group === group && known.version === version);
  const why = isKnown ? noConversion(`${version}.${kind}`, expected) : notRegistered(kind, apiVersion);
  return cannotBeHandled({ group, version, kind }, expected.kind, why);
}

/** Another kind, but one that there is: it was read before anyone saw that it is not wanted here. */
function noConversion(from: string, { group, kind }: ExpectedKind): string {
  return `converting (${from}) to (${group === '' ? 'core' : group.split('.', 1)[0]}.${kind}): unknown conversion`;
}

/** Clients match on this text, the place in upstream's source included. */
export function notRegistered(kind: string, apiVersion: string): string {
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;
}

// Kinds that moved out of these are still known under their old name, though no longer served.
const KNOWN_OLD_VERSIONS: ReadonlySet<string> = new Set(['extensions/v1beta1']);

interface DecodeRequest {
  readonly request: ApiRequest;
  readonly expected: ExpectedKind;
  readonly validation: FieldValidation;
  readonly duplicates: readonly DocumentPath[];
}

/** Decodes by schema; problems are refused, warned of or ignored as the client asked. */
export function checkedDecode({ request, expected, validation, duplicates }: DecodeRequest, value: JsonValue): JsonObject {
  const { object, error, problems } = expected.decode?.(value, duplicates) ?? decodeObject(expected.schema, value, duplicates);
  if (error !== undefined) throw cannotBeHandled(expected, expected.kind, error);
  reportProblems({ request, expected, validation }, problems);
  return object;
}

/** Unknown and repeated fields are refused, warned of or ignored, as the client asked. */
export function reportProblems({ request, expected, validation }: Omit<DecodeRequest, 'duplicates'>, problems: readonly string[]): void {
  if (problems.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict') throw cannotBeHandled(expected, expected.kind, strictDecodingError(problems));
  for (const problem of problems) warn(request, problem);
}
