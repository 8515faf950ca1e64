export * from './custom-resource-definition.ts';
export * from './custom-resource-definition-names.ts';
export * from './custom-resource-definition-spec.ts';
