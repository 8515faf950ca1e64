export {
  costErrorMessage,
  multiplyCost,
  RUNTIME_COST_BUDGET,
  STATIC_ESTIMATED_COST_LIMIT,
  STATIC_ESTIMATED_CRD_COST_LIMIT,
} from '../cel/index.ts';
export { type GoUrl, parseUrlReference, UrlError } from '../cel/library/go-url.ts';
export { type CompiledRule, compileRules } from './compile-rules.ts';
export { compileResource } from './compile-schema.ts';
export { Correlation } from './correlation.ts';
export { type DefaultRuleCheck, defaultErrors } from './default-errors.ts';
export { applyDefaults } from './defaults.ts';
export { coerceEmbedded, decodeMetadata, embeddedErrors, type MetadataRules } from './embedded-metadata.ts';
export * from './json-schema.ts';
export { listTypeErrors } from './list-types.ts';
export { type PruneResult, pruneNulls, pruneUnknownFields, pruneValue, withPrunedDefaults } from './prune.ts';
export { type RuleInput, type RuleResult, RuleValidator, ruleTypeOf } from './rule-validator.ts';
export { followSchemaPath, type SchemaPath, SchemaPathError } from './schema-path.ts';
export { isUri, stringFormat } from './string-formats.ts';
export { structuralErrors, unsupportedKeyword } from './structurality.ts';
export { ValueValidator } from './value-validator.ts';
