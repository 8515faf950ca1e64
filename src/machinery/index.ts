export * from './apply/index.ts';
export * as cel from './cel/index.ts';
export * from './codec/index.ts';
export * from './conditions.ts';
export * from './duration.ts';
export { encodeJson } from './encode-json.ts';
export { encodeYaml } from './encode-yaml.ts';
export {
  type DocumentPath,
  documentPathText,
  JsonSyntaxError,
  type ParsedDocument,
  type WrittenMember,
  type WrittenMembers,
} from './exact-json-parser.ts';
export { aggregateFieldErrors, FieldError, type FieldErrorType, joinMessages, OMITTED, Verbatim } from './field-error.ts';
export { Path } from './field-path.ts';
export * from './field-selector.ts';
export { compareBytes, goFloat, goJsonEscape, goQuote, goValue } from './go-format.ts';
export { goParseIntError } from './go-parse-int.ts';
export {
  type GroupKind,
  type GroupResource,
  type GroupVersion,
  type GroupVersionResource,
  groupKindText,
  groupResourceText,
  parseGroupVersion,
} from './group-resource.ts';
export * from './int-or-string.ts';
export { objectMemberRange } from './json-member.ts';
export * from './json-path/index.ts';
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
export {
  checkedRequirement,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  SelectorError,
  validateRequirement,
} from './label-requirement.ts';
export * from './label-selector.ts';
export { parseLabelSelector } from './label-selector-parser.ts';
export * from './names.ts';
export * from './names.ts';
export * from './object-diff.ts';
export { parseJson } from './parse-json.ts';
export { parseYaml, parseYamlDocuments } from './parse-yaml.ts';
export { goJsonKind } from './patch/json-kind.ts';
export {
  applyJsonPatch,
  type DecodedJsonPatch,
  decodeJsonPatch,
  type JsonPatchOperation,
  patchRejected,
} from './patch/json-patch.ts';
export { JsonPatchError, JsonPatchTestError } from './patch/json-patch-error.ts';
export {
  applyMergePatch,
  createMergePatch,
  createThreeWayMergePatch,
  decodeMergePatch,
  INVALID_MERGE_PATCH,
  type ThreeWay,
  withoutNulls,
} from './patch/merge-patch.ts';
export { sameJson } from './patch/same-json.ts';
export {
  createStrategicMergePatch,
  createThreeWayStrategicPatch,
  PatchConflictError,
  type ThreeWayOptions,
} from './patch/strategic-diff.ts';
export { StrategicPatchError } from './patch/strategic-error.ts';
export { applyStrategicMergePatch, combineStrategicMergePatches } from './patch/strategic-merge.ts';
export { writtenAfterMerge } from './patch/written-after-merge.ts';
export * from './quantity.ts';
export { maxQuantity, minQuantity, Quantity, QuantityError } from './quantity.ts';
export {
  changeOnce,
  changeOnceWith,
  isRecurring,
  markRecurring,
  type Naming,
  oncePerPair,
  oncePerValue,
  recurs,
  textOnce,
  withOwnName,
} from './recurring.ts';
export * from './schema.ts';
export * from './semantic-equal.ts';
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
export * as structural from './structural/index.ts';
export * from './time.ts';
export { unifiedDiff } from './unified-diff.ts';
export type { YamlDocument } from './yaml-composer.ts';
export { YamlError } from './yaml-error.ts';
