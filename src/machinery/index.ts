export { encodeJson } from './encode-json.ts';
export { aggregateFieldErrors, FieldError, type FieldErrorType, joinMessages, Verbatim } from './field-error.ts';
export { Path } from './field-path.ts';
export { compareBytes, goFloat, goJsonEscape, goQuote, goValue } from './go-format.ts';
export {
  type GroupKind,
  type GroupResource,
  type GroupVersion,
  type GroupVersionResource,
  groupKindText,
  groupResourceText,
  parseGroupVersion,
} from './group-resource.ts';
export {
  copyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
  setKey,
} from './json-value.ts';
export * from './schema.ts';
export { type ServerResponse, serverResponseError } from './server-response-error.ts';
export {
  isStatusReason,
  NO_RESOURCE,
  type Status,
  type StatusCause,
  type StatusDetails,
  StatusError,
  type StatusReason,
} from './status-error.ts';
