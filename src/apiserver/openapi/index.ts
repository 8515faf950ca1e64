export { type AggregatedOpenApi, withReferences } from './merged-openapi.ts';
export { OpenApi, type OpenApiDocument } from './openapi.ts';
export { openapiHandler } from './openapi-handler.ts';
export type { OpenApiResource, OpenApiSource, OpenApiSubresource } from './openapi-resource.ts';
