export { type ApplyPatchOptions, applyPatch, applySteps, configurationName, conversionFailure } from './apply-patch.ts';
export type { FieldPaths, WrittenFields } from './field-filter.ts';
export { EMPTY_SET as EMPTY_FIELD_SET, type FieldSet, hasPath as hasFieldPath } from './field-set.ts';
export { resetsManagedFields } from './managed-object.ts';
export { MergeConfigurationError, mergeConfiguration } from './merge-configuration.ts';
export { encodeManagedFields, type ManagedFieldsEntry } from './owners.ts';
export type { OtherVersion, VersionLookup } from './ownership.ts';
export { managedFieldsAfterScale, type ReplicasPaths, scaleManagedFields } from './scale-managed-fields.ts';
export { managedFieldsSteps, type UpdateManagedFieldsOptions, updateManagedFields } from './update-managed-fields.ts';
