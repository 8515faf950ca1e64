import { definitionRef, type GroupVersionKind, type JsonObject, type OpenApiVersion } from '#machinery';

/** A parameter in the path or the query. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

/** An operation, rendered as OpenAPI v2 or v3. */
export interface Operation {
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  /** The request body: its type and media types. */
  readonly body?: { readonly type: string; readonly mediaTypes: readonly string[]; readonly required: boolean };
  readonly responses: readonly OperationResponse[];
  readonly produces: readonly string[];
  /** What version 2 documents for a request without a body; empty: nothing. */
  readonly consumes: readonly string[];
  readonly action?: string;
  readonly kind?: GroupVersionKind;
}

export interface OperationResponse {
  readonly code: number;
  /** The response type; absent: a string. */
  readonly type?: string;
}

/** The operations of one path by HTTP method, and their shared parameters. */
export interface PathModel {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: Readonly<Record<string, Operation>>;
}

const REASONS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

export function renderPath(version: OpenApiVersion, model: PathModel): JsonObject {
  const { parameters, operations } = withSharedParameters(model);
  const methods = Object.entries(operations).map(([method, operation]) => [method, renderOperation(version, operation)] as const);
  return {
    ...Object.fromEntries(methods),
    ...(parameters.length > 0 && { parameters: parameters.map((parameter) => renderParameter(version, parameter)) }),
  };
}

/** Parameters of all operations are declared on the path. */
function withSharedParameters({ path, parameters, operations }: PathModel): PathModel {
  const [first, ...others] = Object.values(operations);
  const isShared = ({ name }: Parameter) => others.every((other) => other.parameters.some((parameter) => parameter.name === name));
  const shared = (first?.parameters ?? []).filter(isShared);
  const rest = (operation: Operation) => ({
    ...operation,
    parameters: operation.parameters.filter((parameter) => !isIn(shared, parameter)),
  });
  return {
    path,
    parameters: [...parameters, ...shared].sort((a, b) => (a.name < b.name ? -1 : 1)),
    operations: Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, rest(operation)])),
  };
}

function isIn(parameters: readonly Parameter[], { name }: Parameter): boolean {
  return parameters.some((parameter) => parameter.name === name);
}

function renderOperation(version: OpenApiVersion, operation: Operation): JsonObject {
  const { id, description, tag, action, kind } = operation;
  return {
    description,
    operationId: id,
    tags: [tag],
    ...(version === 2 ? partsV2(operation) : partsV3(operation)),
    ...(action !== undefined && { 'x-kubernetes-action': action }),
    ...(kind && { 'x-kubernetes-group-version-kind': { group: kind.group, kind: kind.kind, version: kind.version } }),
  };
}

function partsV2({ parameters, body, responses, produces, consumes }: Operation): JsonObject {
  const rendered = parameters.map((parameter) => renderParameter(2, parameter));
  const sent = body && {
    name: 'body',
    in: 'body',
    ...(body.required && { required: true }),
    schema: { $ref: definitionRef(2, body.type) },
  };
  const all = sent ? [sent, ...rendered] : rendered;
  const accepted = body?.mediaTypes ?? consumes;
  return {
    schemes: ['https'],
    ...(accepted.length > 0 && { consumes: accepted }),
    produces,
    ...(all.length > 0 && { parameters: all }),
    responses: Object.fromEntries([...responses.map(responseV2), ['401', { description: REASONS[401] as string }]]),
  };
}

function responseV2({ code, type }: OperationResponse): [string, JsonObject] {
  return [
    String(code),
    { description: REASONS[code] ?? '', schema: type === undefined ? { type: 'string' } : { $ref: definitionRef(2, type) } },
  ];
}

function partsV3({ parameters, body, responses, produces }: Operation): JsonObject {
  return {
    ...(parameters.length > 0 && { parameters: parameters.map((parameter) => renderParameter(3, parameter)) }),
    ...(body && { requestBody: { content: content(body.mediaTypes, body.type), ...(body.required && { required: true }) } }),
    responses: Object.fromEntries([
      ...responses.map(({ code, type }) => [String(code), { description: REASONS[code] ?? '', content: content(produces, type) }]),
      ['401', { description: REASONS[401] }],
    ]) as JsonObject,
  };
}

function content(mediaTypes: readonly string[], type: string | undefined): JsonObject {
  const schema = type === undefined ? { type: 'string' } : { $ref: definitionRef(3, type) };
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
}

function renderParameter(version: OpenApiVersion, parameter: Parameter): JsonObject {
  const { name, type, description } = parameter;
  const value = { type, uniqueItems: true };
  const where = { name, in: parameter.in, description, ...(parameter.in === 'path' && { required: true }) };
  return version === 2 ? { ...where, ...value } : { ...where, schema: value };
}
