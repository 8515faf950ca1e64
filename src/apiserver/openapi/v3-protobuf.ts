import { isJsonObject, type JsonObject } from '#machinery';
import {
  any,
  type Carrier,
  double,
  EXTERNAL_DOCS,
  eachCarrier,
  encodeDocument,
  flag,
  int,
  type MessageTable,
  mapCarrier,
  message,
  schemaOrFlag,
  text,
  texts,
  within,
} from './document-writer.ts';

/** Encodes OpenAPI v3 as gnostic's openapi_v3.Document. */
export function encodeDocumentV3(document: JsonObject): Buffer {
  return encodeDocument(DOCUMENT, document);
}

const REFERENCE: MessageTable = { fields: { $ref: [1, text], summary: [2, text], description: [3, text] }, extensions: 0 };

/** A message, or a reference to one. */
function orReference(table: () => MessageTable): Carrier {
  const itself = within(1, message(table));
  const reference = within(
    2,
    message(() => REFERENCE),
  );
  return (out, number, value) => (isJsonObject(value) && value.$ref !== undefined ? reference : itself)(out, number, value);
}

const schema = orReference(() => SCHEMA);

/** Defaults that are objects or lists cannot be encoded; their presence is. */
const defaultValue: Carrier = (out, number, value) =>
  out.delimited(number, () => {
    if (typeof value === 'number') double(out, 1, value);
    else if (typeof value === 'boolean') flag(out, 2, value);
    else if (typeof value === 'string') text(out, 3, value);
  });

const SCHEMA: MessageTable = {
  fields: {
    nullable: [1, flag],
    externalDocs: [6, message(() => EXTERNAL_DOCS)],
    example: [7, any],
    title: [9, text],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, flag],
    minimum: [13, double],
    exclusiveMinimum: [14, flag],
    maxLength: [15, int],
    minLength: [16, int],
    pattern: [17, text],
    maxItems: [18, int],
    minItems: [19, int],
    uniqueItems: [20, flag],
    maxProperties: [21, int],
    minProperties: [22, int],
    required: [23, texts],
    enum: [24, eachCarrier(any)],
    type: [25, text],
    allOf: [26, eachCarrier(schema)],
    oneOf: [27, eachCarrier(schema)],
    anyOf: [28, eachCarrier(schema)],
    not: [29, message(() => SCHEMA)],
    items: [30, within(1, eachCarrier(schema))],
    properties: [31, mapCarrier(schema)],
    additionalProperties: [32, schemaOrFlag(schema)],
    default: [33, defaultValue],
    description: [34, text],
    format: [35, text],
  },
  extensions: 36,
};

const MEDIA_TYPE: MessageTable = { fields: { schema: [1, schema] }, extensions: 5 };
const content = mapCarrier(message(() => MEDIA_TYPE));

const PARAMETER: MessageTable = {
  fields: { name: [1, text], in: [2, text], description: [3, text], required: [4, flag], schema: [10, schema], content: [13, content] },
  extensions: 14,
};
const parameters = eachCarrier(orReference(() => PARAMETER));

const REQUEST_BODY: MessageTable = { fields: { description: [1, text], content: [2, content], required: [3, flag] }, extensions: 4 };
const RESPONSE: MessageTable = { fields: { description: [1, text], content: [3, content] }, extensions: 5 };

const OPERATION: MessageTable = {
  fields: {
    tags: [1, texts],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, parameters],
    requestBody: [7, orReference(() => REQUEST_BODY)],
    responses: [
      8,
      mapCarrier(
        orReference(() => RESPONSE),
        2,
      ),
    ],
    deprecated: [10, flag],
  },
  extensions: 13,
};
const operation = message(() => OPERATION);

const PATH_ITEM: MessageTable = {
  fields: {
    summary: [2, text],
    description: [3, text],
    get: [4, operation],
    put: [5, operation],
    post: [6, operation],
    delete: [7, operation],
    options: [8, operation],
    head: [9, operation],
    patch: [10, operation],
    parameters: [13, parameters],
  },
  extensions: 14,
};

const SECURITY_SCHEME: MessageTable = {
  fields: { type: [1, text], description: [2, text], name: [3, text], in: [4, text] },
  extensions: 9,
};

const COMPONENTS: MessageTable = {
  fields: { schemas: [1, mapCarrier(schema)], securitySchemes: [7, mapCarrier(orReference(() => SECURITY_SCHEME))] },
  extensions: 10,
};

const INFO: MessageTable = { fields: { title: [1, text], description: [2, text], version: [6, text] }, extensions: 7 };

const DOCUMENT: MessageTable = {
  fields: {
    openapi: [1, text],
    info: [2, message(() => INFO)],
    paths: [4, mapCarrier(message(() => PATH_ITEM))],
    components: [5, message(() => COMPONENTS)],
    security: [6, eachCarrier(mapCarrier(within(1, texts)))],
  },
  extensions: 9,
};
