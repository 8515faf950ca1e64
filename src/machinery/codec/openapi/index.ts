export {
  definitionRef,
  type OpenApiDefinitionsOptions,
  type OpenApiVersion,
  openapiDefinitionSteps,
  openapiDefinitions,
} from './openapi-definitions.ts';
