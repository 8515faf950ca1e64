export { definitionFromV1, definitionToV1 } from './conversion.ts';
export * from './custom-resource-definition.ts';
