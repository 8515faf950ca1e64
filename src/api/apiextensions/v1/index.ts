export {
  type CustomResource,
  type CustomResourceType,
  customResourceType,
  type DecodedCustomResource,
} from './custom-resource.behaviour.ts';
export { hasValidCABundle } from './custom-resource-conversion.validation.ts';
export {
  customResourceDefinitionBehaviour,
  prepareCustomResourceDefinitionForCreate,
  prepareCustomResourceDefinitionForUpdate,
} from './custom-resource-definition.behaviour.ts';
export * from './custom-resource-definition.ts';
export { isEstablished } from './custom-resource-definition.validation.ts';
export * from './custom-resource-definition-names.ts';
export * from './custom-resource-definition-spec.ts';
