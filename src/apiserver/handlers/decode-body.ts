import { type Clock, type MaybePromise, mapMaybePromise, runInTurns, TurnBudget } from '#base';
import {
  cannotBeHandledError,
  type DecodedObject,
  type DecodeOptions,
  decodeObject,
  type Envelope,
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
  TooManyItemsError,
  unrecognizedObject,
} from '#machinery';
import { STEP_MS } from '../registry/generic/object-write.ts';
import type { RecurringSpecs } from '../registry/generic/recurring-specs.ts';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import { type ApiRequest, warn } from '../request/api-request.ts';
import {
  decodeMessage,
  JSON_TYPE,
  mediaTypeOf,
  openEnvelope,
  type ParsedBody,
  PROTOBUF_TYPE,
  parseBody,
  warningsOf,
  YAML_TYPE,
  yamlBody,
} from '../request/parse-body.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { internalType, isRegistered, MAIN_SCHEME, schemeOf } from './registered-kinds.ts';
import type { ResourceCall } from './resource-call.ts';
import type { FieldValidation } from './write-options.ts';

/** The limit of request bodies. */
export const BODY_LIMIT = 3 * 1024 * 1024;

/** The kind that a body is decoded as. */
export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly schema: ObjectSchema;
  readonly custom: boolean;
  /** Other versions that are accepted, with the same fields. */
  readonly alsoVersions?: readonly string[];
  readonly decode?: (value: JsonValue) => DecodedObject;
  /** Errors that the schema does not express. */
  readonly conversionError?: (object: JsonObject) => string | undefined;
  /** For kinds whose objects often share one spec. */
  readonly recurringSpecs?: RecurringSpecs;
}

/** The object in the request's body: canonical, defaulted, in the version of the request. A large one is parsed, decoded and defaulted in several turns. */
export function decodeBody(
  call: ResourceCall<ServedResource>,
  validation: FieldValidation,
  existing?: KubeObject | undefined,
): MaybePromise<KubeObject> {
  const { request, resource: expected, deps } = call;
  const turn = new TurnBudget(deps.clock, STEP_MS);
  const parsed = mapMaybePromise(parseRequest(request, expected, deps.clock), (document) => turn.resumeWith(document));
  const decode = (document: RequestDocument) => turn.resumeWith(decodeDocument(document, { request, expected, validation, existing }));
  return mapMaybePromise(mapMaybePromise(parsed, decode), (decoded) => {
    const object = expected.strategy.defaults?.(decoded as KubeObject) ?? (decoded as KubeObject);
    request.audit?.record?.setRequestObject(object);
    return object;
  });
}

export function decodeBodyAs(request: ApiRequest, expected: ExpectedKind, validation: FieldValidation): MaybePromise<JsonObject> {
  return mapMaybePromise(parseRequest(request, expected), (parsed) => {
    const object = decodeDocument(parsed, { request, expected, validation });
    request.audit?.record?.setRequestObject(object);
    return object;
  });
}

function decodeDocument(parsed: RequestDocument, { request, expected, validation, existing }: Omit<DecodeRequest, 'parsed'>): JsonObject {
  const value = ofKind(parsed, expected);
  request.document = value;
  const object = withKind(checkedDecode({ request, expected, validation, parsed, existing }, value), value, expected);
  const withSpec = parsed.spec === undefined ? object : Object.assign({}, object, { spec: parsed.spec });
  return withReset(withSpec as unknown as KubeObject, value) as unknown as JsonObject;
}

/** An empty managedFields list resets them; decoding as a usual field would drop it. */
export function withReset(object: KubeObject, sent: JsonValue): KubeObject {
  const { metadata } = sent as { metadata?: { managedFields?: unknown } | null };
  const managedFields = metadata?.managedFields;
  if (!Array.isArray(managedFields) || managedFields.length > 0) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: [] } };
}

/** A body whose spec is cached, or worth caching. */
interface RequestDocument extends ParsedBody {
  /** Its spec, which in `value` is null. */
  readonly spec?: JsonObject;
  /** Called with the spec once the document is valid. */
  readonly learn?: (spec: JsonObject) => void;
}

/** With a clock, large YAML is composed in several turns of the event loop. */
function parseRequest({ body }: ApiRequest, expected: ExpectedKind, clock?: Clock): MaybePromise<RequestDocument> {
  if (body.type === 'object') return documentOf(body.value as JsonValue, expected);
  return mapMaybePromise(body.read(BODY_LIMIT), (bytes) => {
    const isYaml = clock !== undefined && mediaTypeOf(body.contentType) === YAML_TYPE;
    return isYaml ? runInTurns(yamlBody(bytes, expected.kind), clock) : parseBytes(bytes, body.contentType, expected);
  });
}

function parseBytes(bytes: Buffer, contentType: string, expected: ExpectedKind): RequestDocument {
  const { recurringSpecs: specs } = expected;
  const mediaType = mediaTypeOf(contentType);
  if (specs && mediaType === PROTOBUF_TYPE) return parseMessage(openEnvelope(bytes, expected), expected, specs);
  const recurring = specs && mediaType === JSON_TYPE ? specs.find(bytes) : undefined;
  const spec = recurring && specs?.recall(recurring.text);
  const rest = spec && parseRest(recurring.rest(), expected);
  if (rest) return { ...rest, bytes, spec };
  const document = parseBody(bytes, contentType, expected);
  return recurring && specs ? { ...document, learn: (decodedSpec) => specs.learn(recurring.text, decodedSpec) } : document;
}

function parseMessage(envelope: Envelope, expected: ExpectedKind, specs: RecurringSpecs): RequestDocument {
  const plain = { problems: [], bytes: undefined };
  const recurring = specs.findInMessage(envelope.message, expected.schema);
  const spec = recurring && specs.recall(recurring.text);
  if (spec) return { ...plain, value: { ...decodeMessage({ ...envelope, message: recurring.rest() }, expected), spec: null }, spec };
  const value = decodeMessage(envelope, expected);
  return recurring ? { ...plain, value, learn: (decodedSpec) => specs.learn(recurring.text, decodedSpec) } : { ...plain, value };
}

/** The document without its spec; undefined if anything is unusual, so that errors concern the whole document. */
function parseRest(bytes: Buffer, expected: ExpectedKind): ParsedBody | undefined {
  try {
    const parsed = parseBody(bytes, JSON_TYPE, expected);
    // An escaped key could be a second `spec`.
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
  return { value, problems: [], bytes: undefined, learn: (decodedSpec) => specs.learnValue(sent, decodedSpec) };
}

/** Checks kind and apiVersion of the body. A body without them is taken for the expected kind. */
function ofKind(parsed: ParsedBody, expected: ExpectedKind): JsonObject {
  const value = parsed.value === null && !expected.custom ? {} : parsed.value;
  const misnamed = namingError(value);
  if (misnamed !== undefined || !isJsonObject(value)) throw unreadable(misnamed ?? '', { expected, parsed });
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
  if (expected.custom && !kind) throw missingKind(expected, parsed);
  if (expected.custom && !apiVersion) throw apiVersion === null ? nullVersion(expected) : mismatch(String(kind), '', expected);
  const statedKind = typeof kind === 'string' && kind !== '' ? kind : expected.kind;
  const isStated = typeof apiVersion === 'string' && apiVersion !== '' && !expected.alsoVersions?.includes(apiVersion);
  const statedVersion = isStated ? apiVersion : expected.apiVersion;
  if (statedKind === expected.kind && statedVersion === expected.apiVersion) return value;
  if (expected.custom && statedVersion === expected.apiVersion) throw wrongCustomKind(statedKind, value, expected);
  throw mismatch(statedKind, statedVersion, expected);
}

function withKind(object: JsonObject, { kind, apiVersion }: JsonObject, expected: ExpectedKind): JsonObject {
  const isNamed = kind === expected.kind && apiVersion === expected.apiVersion;
  return isNamed ? object : { ...object, kind: expected.kind, apiVersion: expected.apiVersion };
}

/** Custom kinds are decoded before their kind is checked, so a mismatch is a validation error. */
function wrongCustomKind(kind: string, value: JsonObject, expected: ExpectedKind): StatusError {
  const { name } = (isJsonObject(value.metadata) ? value.metadata : {}) as { name?: string };
  return StatusError.invalid({ group: expected.group, kind }, name ?? '', [
    FieldError.invalid(Path.of('kind'), kind, `must be ${expected.kind}`),
  ]);
}

const VERSION_AND_KIND = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

interface ExpectedBody {
  readonly expected: ExpectedKind;
  readonly parsed: ParsedBody;
}

/** Upstream's decoder looks for the kind first; this is its message. */
function unnamed(value: JsonValue, place: string): string {
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${goJsonKind(value)} into Go ${place}`;
}

/** The error for a document without kind or apiVersion. */
export function namingError(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return unnamed(value, `value of type ${VERSION_AND_KIND}`);
  const { apiVersion = '', kind = '' } = value;
  if (typeof apiVersion !== 'string' && apiVersion !== null) return unnamed(apiVersion, 'struct field .apiVersion of type string');
  if (typeof kind !== 'string' && kind !== null) return unnamed(kind, 'struct field .kind of type string');
  const slash = apiVersion?.indexOf('/') ?? -1;
  return slash >= 0 && apiVersion!.includes('/', slash + 1) ? `unexpected GroupVersion string: ${apiVersion}` : undefined;
}

function unreadable(detail: string, { expected, parsed }: ExpectedBody): StatusError {
  return unrecognizedObject(expected.kind, detail, parsed.bytes ?? Buffer.alloc(0));
}

function missingKind(expected: ExpectedKind, { bytes }: ParsedBody): StatusError {
  const text = bytes?.toString('utf8') ?? '';
  return unrecognizedObject(expected.kind, `Object 'Kind' is missing in '${text}'`, bytes ?? Buffer.alloc(0));
}

function nullVersion({ kind }: ExpectedKind): StatusError {
  const why = '.apiVersion accessor error: <nil> is of the type <nil>, expected string';
  return cannotBeHandledError({ group: '', version: '', kind }, kind, why);
}

function mismatch(kind: string, apiVersion: string, expected: ExpectedKind): StatusError {
  const { group, version } = parseGroupVersion(apiVersion);
  const stated = { group, version, kind };
  const isRead = expected.custom || isRegistered(stated, expected.group);
  if (isRead && (expected.custom || internalType(stated) === internalType(expected))) {
    return StatusError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`,
    );
  }
  // A registered kind is decoded before anyone sees that another one is expected.
  const detail = isRead ? noConversion(stated, expected) : notRegistered(kind, apiVersion, schemeOf(expected.group));
  return cannotBeHandledError(stated, expected.kind, detail);
}

function noConversion({ version, kind }: GroupVersionKind, expected: ExpectedKind): string {
  return `converting (${version}.${kind}) to (${internalType(expected)}): unknown conversion`;
}

/** Clients match on this text, including the path in upstream's source. */
export function notRegistered(kind: string, apiVersion: string, scheme = MAIN_SCHEME): string {
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "${scheme}"`;
}

interface DecodeRequest {
  readonly request: ApiRequest;
  readonly expected: ExpectedKind;
  readonly validation: FieldValidation;
  /** Parse information about the value's text. */
  readonly parsed?: Pick<RequestDocument, 'written' | 'problems' | 'learn'>;
  /** Of the same version: what the value shares with it is decoded already. */
  readonly existing?: KubeObject | undefined;
}

/** Decodes by schema; problems are errors, warnings or ignored, by fieldValidation. */
export function checkedDecode({ request, expected, validation, parsed, existing }: DecodeRequest, value: JsonValue): JsonObject {
  const beside = { written: parsed?.written, existing: existing as JsonObject | undefined };
  const { object, error, problems } = expected.decode?.(value) ?? decodeBounded(expected.schema, value, beside);
  const detail = error ?? expected.conversionError?.(object);
  if (detail !== undefined) throw cannotBeHandledError(expected, expected.kind, detail);
  if (problems.length === 0 && parsed?.written === undefined && isJsonObject(object.spec ?? null))
    parsed?.learn?.(object.spec as JsonObject);
  reportProblems({ request, expected, validation }, parsed?.problems.length ? [...parsed.problems, ...problems] : problems);
  return object;
}

/**
 * A body of empty objects would grow a hundredfold by defaults. A valid object of 1.5 MB, the largest that can be stored, has fewer list
 * items and keys than this.
 */
const MAX_ITEMS = 100_000;

/** Throws the 413 for objects with more items than any that is stored. */
export function decodeBounded(schema: ObjectSchema, value: JsonValue, options: Omit<DecodeOptions, 'maxItems'> = {}): DecodedObject {
  try {
    return decodeObject(schema, value, { ...options, maxItems: MAX_ITEMS });
  } catch (error) {
    if (!(error instanceof TooManyItemsError)) throw error;
    throw StatusError.requestEntityTooLarge(`The allowed maximum of objects in lists and keys in maps is ${MAX_ITEMS}: ${error.message}`);
  }
}

/** Unknown and repeated fields are errors, warnings or ignored, by fieldValidation. */
export function reportProblems({ request, expected, validation }: Omit<DecodeRequest, 'parsed'>, problems: readonly string[]): void {
  if (problems.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict') throw cannotBeHandledError(expected, expected.kind, strictDecodingError(problems));
  for (const warning of problems.flatMap(warningsOf)) warn(request, warning);
}
