import { KINDS } from '#api';
import { type Soon, whenKnown } from '#base';
import {
  cannotBeHandled,
  type DecodedObject,
  decodeObject,
  FieldError,
  type GroupVersionKind,
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
import type { RecurringSpecs } from '../registry/recurring-specs.ts';
import { type ApiRequest, warn } from '../request/api-request.ts';
import { JSON_TYPE, mediaTypeOf, type ParsedBody, parseBody, warningsOf } from '../request/parse-body.ts';
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
  readonly decode?: (value: JsonValue) => DecodedObject;
  /** What is wrong with a decoded object that its schema does not tell. */
  readonly conversionError?: (object: JsonObject) => string | undefined;
  /** Kinds whose objects come by the thousand with the same spec. */
  readonly recurringSpecs?: RecurringSpecs;
}

/** The object in the request's body: canonical, defaulted, in the version of the request. */
export function decodeBody(call: ResourceCall, validation: FieldValidation): Soon<KubeObject> {
  return whenKnown(
    decodeBodyAs(call.request, call.resource, validation),
    (object) => call.resource.strategy.defaults?.(object as KubeObject) ?? (object as KubeObject),
  );
}

export function decodeBodyAs(request: ApiRequest, expected: ExpectedKind, validation: FieldValidation): Soon<JsonObject> {
  return whenKnown(parseRequest(request, expected), (parsed) => decodeDocument(parsed, { request, expected, validation }));
}

function decodeDocument(parsed: RequestDocument, { request, expected, validation }: Omit<DecodeRequest, 'parsed'>): JsonObject {
  const value = ofKind(parsed, expected);
  const object = named(checkedDecode({ request, expected, validation, parsed }, value), value, expected);
  const whole = parsed.spec === undefined ? object : Object.assign({}, object, { spec: parsed.spec });
  return withReset(whole as unknown as KubeObject, value) as unknown as JsonObject;
}

/** An empty list of managed fields asks to forget them all; as a field like any other it would vanish in decoding. */
export function withReset(object: KubeObject, sent: JsonValue): KubeObject {
  const { metadata } = sent as { metadata?: { managedFields?: unknown } | null };
  const managedFields = metadata?.managedFields;
  if (!Array.isArray(managedFields) || managedFields.length > 0) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: [] } };
}

/** A body whose spec need not be decoded, or is worth remembering. */
interface RequestDocument extends ParsedBody {
  /** Its spec, which in `value` is null. */
  readonly spec?: JsonObject;
  /** To be told the spec when nothing is wrong with the document. */
  readonly learn?: (spec: JsonObject) => void;
}

function parseRequest({ body }: ApiRequest, expected: ExpectedKind): Soon<RequestDocument> {
  if (body.type === 'object') return documentOf(body.value as JsonValue, expected);
  return whenKnown(body.read(BODY_LIMIT), (bytes) => parseBytes(bytes, body.contentType, expected));
}

function parseBytes(bytes: Buffer, contentType: string, expected: ExpectedKind): RequestDocument {
  const { recurringSpecs: specs } = expected;
  const found = specs && mediaTypeOf(contentType) === JSON_TYPE ? specs.find(bytes) : undefined;
  const spec = found && specs?.recall(found.text);
  const rest = spec && parseRest(found.rest(), expected);
  if (rest) return { ...rest, bytes, spec };
  const whole = parseBody(bytes, contentType, expected);
  return found && specs ? { ...whole, learn: (known) => specs.learn(found.text, known) } : whole;
}

/** A document without its spec; undefined when anything is odd about it, which is then told of the whole. */
function parseRest(bytes: Buffer, expected: ExpectedKind): ParsedBody | undefined {
  try {
    const parsed = parseBody(bytes, JSON_TYPE, expected);
    // An escape in a key can name the spec once more.
    return parsed.written === undefined && isJsonObject(parsed.value) && parsed.value.spec === null ? parsed : undefined;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

function documentOf(value: JsonValue, { recurringSpecs: specs }: ExpectedKind): RequestDocument {
  const sent = specs && isJsonObject(value) ? value.spec : undefined;
  if (!specs || !isJsonObject(sent)) return { value, problems: [], bytes: undefined };
  const spec = specs.recallValue(sent);
  if (spec) return { value: Object.assign({}, value, { spec: null }), problems: [], bytes: undefined, spec };
  return { value, problems: [], bytes: undefined, learn: (known) => specs.learnValue(sent, known) };
}

/** Checks that the body says it is what the path expects. One that says nothing is taken to be that. */
function ofKind(parsed: ParsedBody, expected: ExpectedKind): JsonObject {
  const value = parsed.value === null && !expected.custom ? {} : parsed.value;
  const misnamed = namingError(value);
  if (misnamed !== undefined || !isJsonObject(value)) throw unreadable(misnamed ?? '', { expected, parsed });
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
  if (expected.custom && !kind) throw missing('Kind', expected, parsed);
  if (expected.custom && !apiVersion) throw missing('apiVersion', expected, parsed);
  const statedKind = typeof kind === 'string' && kind !== '' ? kind : expected.kind;
  const isStated = typeof apiVersion === 'string' && apiVersion !== '' && !expected.alsoVersions?.includes(apiVersion);
  const statedVersion = isStated ? apiVersion : expected.apiVersion;
  if (statedKind === expected.kind && statedVersion === expected.apiVersion) return value;
  if (expected.custom && statedVersion === expected.apiVersion) throw wrongCustomKind(statedKind, value, expected);
  throw mismatch(statedKind, statedVersion, expected);
}

function named(object: JsonObject, { kind, apiVersion }: JsonObject, expected: ExpectedKind): JsonObject {
  const isNamed = kind === expected.kind && apiVersion === expected.apiVersion;
  return isNamed ? object : { ...object, kind: expected.kind, apiVersion: expected.apiVersion };
}

/** Custom kinds are read before anyone asks which they are, so this is a matter of validation. */
function wrongCustomKind(kind: string, value: JsonObject, expected: ExpectedKind): StatusError {
  const { name } = (isJsonObject(value.metadata) ? value.metadata : {}) as { name?: string };
  return StatusError.invalid({ group: expected.group, kind }, name ?? '', [
    FieldError.invalid(Path.of('kind'), kind, `must be ${expected.kind}`),
  ]);
}

const VERSION_AND_KIND = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

interface Reading {
  readonly expected: ExpectedKind;
  readonly parsed: ParsedBody;
}

/** In the words of upstream's decoder, which looks for the kind of a document first. */
function unnamed(value: JsonValue, place: string): string {
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${goJsonKind(value)} into Go ${place}`;
}

/** Why a document does not tell what it is. */
export function namingError(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return unnamed(value, `value of type ${VERSION_AND_KIND}`);
  const mistyped = ['apiVersion', 'kind'].find((key) => typeof (value[key] ?? '') !== 'string');
  if (mistyped !== undefined) return unnamed(value[mistyped]!, `struct field .${mistyped} of type string`);
  const apiVersion = String(value.apiVersion ?? '');
  return apiVersion.split('/').length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined;
}

function unreadable(why: string, { expected, parsed }: Reading): StatusError {
  return unrecognizedObject(expected.kind, why, parsed.bytes ?? Buffer.alloc(0));
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
  const why =
    !expected.custom && isKnown({ group, version, kind }) ? noConversion(`${version}.${kind}`, expected) : notRegistered(kind, apiVersion);
  return cannotBeHandled({ group, version, kind }, expected.kind, why);
}

/** Whether upstream's scheme has the kind: one that is served, its list, or what every version has beside its own kinds. */
function isKnown({ group, version, kind }: GroupVersionKind): boolean {
  const versioned = KINDS.filter((known) => known.group === group && known.version === version);
  if (versioned.length === 0) return false;
  if (KINDS_OF_EVERY_VERSION.has(kind) || (group === '' && UNVERSIONED_KINDS.has(kind))) return true;
  return versioned.some((known) => known.kind === kind || (hasList(known.kind) && `${known.kind}List` === kind));
}

/** Reviews and bindings are answered, not kept. */
function hasList(kind: string): boolean {
  return kind !== 'Binding' && !kind.endsWith('Review');
}

const KINDS_OF_EVERY_VERSION: ReadonlySet<string> = new Set([
  'WatchEvent',
  'ListOptions',
  'GetOptions',
  'DeleteOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
]);
const UNVERSIONED_KINDS: ReadonlySet<string> = new Set(['List', 'Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList']);

/** Another kind, but one that there is: it was read before anyone saw that it is not wanted here. */
function noConversion(from: string, { group, kind }: ExpectedKind): string {
  return `converting (${from}) to (${group === '' ? 'core' : group.split('.', 1)[0]}.${kind}): unknown conversion`;
}

const ALL_KINDS = 'pkg/api/legacyscheme/scheme.go:30';

/** Clients match on this text, the place in upstream's source where the known kinds stand included. */
export function notRegistered(kind: string, apiVersion: string, scheme = ALL_KINDS): string {
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "${scheme}"`;
}

// Kinds that moved out of these are still known under their old name, though no longer served.
const KNOWN_OLD_VERSIONS: ReadonlySet<string> = new Set(['extensions/v1beta1']);

interface DecodeRequest {
  readonly request: ApiRequest;
  readonly expected: ExpectedKind;
  readonly validation: FieldValidation;
  /** What is known of the text that the value came from. */
  readonly parsed?: Pick<RequestDocument, 'written' | 'problems' | 'learn'>;
}

/** Decodes by schema; problems are refused, warned of or ignored as the client asked. */
export function checkedDecode({ request, expected, validation, parsed }: DecodeRequest, value: JsonValue): JsonObject {
  const { object, error, problems } = expected.decode?.(value) ?? decodeObject(expected.schema, value, { written: parsed?.written });
  const why = error ?? expected.conversionError?.(object);
  if (why !== undefined) throw cannotBeHandled(expected, expected.kind, why);
  if (problems.length === 0 && parsed?.written === undefined && isJsonObject(object.spec ?? null))
    parsed?.learn?.(object.spec as JsonObject);
  reportProblems({ request, expected, validation }, parsed?.problems.length ? [...parsed.problems, ...problems] : problems);
  return object;
}

/** Unknown and repeated fields are refused, warned of or ignored, as the client asked. */
export function reportProblems({ request, expected, validation }: Omit<DecodeRequest, 'parsed'>, problems: readonly string[]): void {
  if (problems.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict') throw cannotBeHandled(expected, expected.kind, strictDecodingError(problems));
  for (const warning of problems.flatMap(warningsOf)) warn(request, warning);
}
