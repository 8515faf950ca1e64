export * from './apply/index.ts';
export * as cel from './cel/index.ts';
export { urlReferenceProblem } from './cel/library/go-url.ts';
export * from './codec/index.ts';
export {
  aggregateFieldErrors,
  FieldError,
  type FieldErrorType,
  itemErrors,
  joinMessages,
  MAX_FIELD_ERRORS,
  OMITTED,
  reportedErrors,
  TooManyFieldErrors,
  Verbatim,
} from './errors/field-error.ts';
export { Path } from './errors/field-path.ts';
export { type ServerResponse, serverResponseError } from './errors/server-response-error.ts';
export {
  isStatusReason,
  NO_RESOURCE,
  type Status,
  type StatusCause,
  type StatusDetails,
  StatusError,
  type StatusReason,
} from './errors/status-error.ts';
export {
  FeatureGates,
  type GateReleases,
  type GateSettings,
  type GateStage,
  type GateState,
  parseFeatureGates,
} from './feature-gates/feature-gates.ts';
export { copyMembers } from './json/copy-members.ts';
export { encodeJson } from './json/encode-json.ts';
export {
  type DocumentPath,
  documentPathText,
  JsonSyntaxError,
  type ParsedDocument,
  type WrittenMember,
  type WrittenMembers,
} from './json/exact-json-parser.ts';
export { indentJson } from './json/indent-json.ts';
export { objectMemberRange } from './json/json-member.ts';
export {
  copyObject,
  getKey,
  isJsonArray,
  isJsonObject,
  isStringArray,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
  setKey,
} from './json/json-value.ts';
export { parseJson } from './json/parse-json.ts';
export * from './json-path/index.ts';
export * from './objects/conditions.ts';
export {
  type GroupKind,
  type GroupResource,
  type GroupVersion,
  type GroupVersionResource,
  groupKindText,
  groupResourceText,
  parseGroupVersion,
} from './objects/group-resource.ts';
export * from './objects/object-diff.ts';
export {
  changeOnce,
  changeOnceWith,
  isRecurring,
  markRecurring,
  type NameSlot,
  oncePerPair,
  oncePerValue,
  recurs,
  textOnce,
  withOwnName,
} from './objects/recurring.ts';
export * from './objects/semantic-equal.ts';
export { unifiedDiff } from './objects/unified-diff.ts';
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
export * from './schema.ts';
export * from './selectors/field-selector.ts';
export {
  checkedRequirement,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  SelectorError,
  validateRequirement,
} from './selectors/label-requirement.ts';
export * from './selectors/label-selector.ts';
export { parseLabelSelector } from './selectors/label-selector-parser.ts';
export * as structural from './structural/index.ts';
export { ConfigurationReader, type Fields } from './values/configuration-reader.ts';
export * from './values/duration.ts';
export { compareBytes, goFloat, goJsonEscape, goQuote, goValue } from './values/go-format.ts';
export { goParseIntError } from './values/go-parse-int.ts';
export * from './values/int-or-string.ts';
export * from './values/names.ts';
export * from './values/names.ts';
export * from './values/quantity.ts';
export { maxQuantity, minQuantity, Quantity, QuantityError } from './values/quantity.ts';
export { fieldsOfKind, StrictConfigurationReader } from './values/strict-configuration-reader.ts';
export * from './values/time.ts';
export { encodeYaml, encodeYamlNode } from './yaml/encode-yaml.ts';
export { parseYaml, parseYamlDocuments, yamlSteps } from './yaml/parse-yaml.ts';
export type { YamlDocument } from './yaml/yaml-composer.ts';
export { YamlError } from './yaml/yaml-error.ts';
