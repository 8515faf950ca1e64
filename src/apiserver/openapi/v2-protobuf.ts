import type { JsonObject } from '#machinery';
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

/** Encodes OpenAPI v2 as gnostic's openapi_v2.Document, for kubectl before 1.27. */
export function encodeDocumentV2(document: JsonObject): Buffer {
  return encodeDocument(DOCUMENT, document);
}

const schema = message(() => SCHEMA);
const bodyParameter = within(
  1,
  message(() => BODY_PARAMETER),
);
const queryParameter = within(
  2,
  within(
    3,
    message(() => QUERY_PARAMETER),
  ),
);
const pathParameter = within(
  2,
  within(
    4,
    message(() => PATH_PARAMETER),
  ),
);
const parameter: Carrier = (out, number, value) => {
  const place = (value as JsonObject).in;
  const carrier = place === 'body' ? bodyParameter : place === 'query' ? queryParameter : pathParameter;
  carrier(out, number, value);
};

const INFO: MessageTable = { fields: { title: [1, text], version: [2, text], description: [3, text] }, extensions: 7 };

const SCHEMA: MessageTable = {
  fields: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, int],
    minLength: [12, int],
    pattern: [13, text],
    maxItems: [14, int],
    minItems: [15, int],
    uniqueItems: [16, flag],
    maxProperties: [17, int],
    minProperties: [18, int],
    required: [19, texts],
    enum: [20, eachCarrier(any)],
    additionalProperties: [21, schemaOrFlag(schema)],
    type: [22, within(1, texts)],
    items: [23, within(1, eachCarrier(schema))],
    properties: [25, mapCarrier(schema)],
    externalDocs: [29, message(() => EXTERNAL_DOCS)],
    example: [30, any],
  },
  extensions: 31,
};

const PARAMETER_FIELDS = { required: [1, flag], in: [2, text], description: [3, text], name: [4, text] } as const;
const QUERY_PARAMETER: MessageTable = {
  fields: { ...PARAMETER_FIELDS, type: [6, text], format: [7, text], uniqueItems: [20, flag] },
  extensions: 23,
};
const PATH_PARAMETER: MessageTable = {
  fields: { ...PARAMETER_FIELDS, type: [5, text], format: [6, text], uniqueItems: [19, flag] },
  extensions: 22,
};
const BODY_PARAMETER: MessageTable = {
  fields: { description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] },
  extensions: 6,
};

const RESPONSE: MessageTable = { fields: { description: [1, text], schema: [2, within(1, schema)] }, extensions: 5 };

const OPERATION: MessageTable = {
  fields: {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, eachCarrier(within(1, parameter))],
    responses: [
      9,
      mapCarrier(
        within(
          1,
          message(() => RESPONSE),
        ),
      ),
    ],
    schemes: [10, texts],
    deprecated: [11, flag],
  },
  extensions: 13,
};

const PATH_ITEM: MessageTable = {
  fields: {
    get: [2, message(() => OPERATION)],
    put: [3, message(() => OPERATION)],
    post: [4, message(() => OPERATION)],
    delete: [5, message(() => OPERATION)],
    options: [6, message(() => OPERATION)],
    head: [7, message(() => OPERATION)],
    patch: [8, message(() => OPERATION)],
    parameters: [9, eachCarrier(within(1, parameter))],
  },
  extensions: 10,
};

const API_KEY: MessageTable = { fields: { type: [1, text], name: [2, text], in: [3, text], description: [4, text] }, extensions: 5 };

const DOCUMENT: MessageTable = {
  fields: {
    swagger: [1, text],
    info: [2, message(() => INFO)],
    paths: [
      8,
      mapCarrier(
        message(() => PATH_ITEM),
        2,
      ),
    ],
    definitions: [9, mapCarrier(schema)],
    securityDefinitions: [
      13,
      mapCarrier(
        within(
          2,
          message(() => API_KEY),
        ),
      ),
    ],
  },
  extensions: 16,
};
