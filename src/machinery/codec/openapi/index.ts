export { definitionRef, type OpenApiDefinitionsOptions, type OpenApiVersion, openapiDefinitions } from './openapi-definitions.ts';
