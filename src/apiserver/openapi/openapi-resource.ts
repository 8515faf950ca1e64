import type { GroupVersionKind, JsonObject, ObjectSchema } from '#machinery';

/** A resource in one version, as far as its description is concerned. What the server serves is one of these. */
export interface OpenApiResource extends GroupVersionKind {
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly listKind: string;
  readonly schema: ObjectSchema;
  /** Defined at run time: the schema of its CustomResourceDefinition is published, not the compiled one. */
  readonly custom: boolean;
  /** The `openAPIV3Schema` of a custom resource; absent when it has none. */
  readonly openAPIV3Schema?: JsonObject | undefined;
  readonly strategy?: { readonly returnsDeletedObject?: boolean; readonly selectableFields?: object };
  readonly subresources: ReadonlyMap<string, OpenApiSubresource>;
}

export interface OpenApiSubresource {
  readonly name: string;
  /** The kind it speaks: usually the resource's own. */
  readonly kind: GroupVersionKind;
  readonly verbs: readonly string[];
}

/** Where the resources come from; they change while the server runs, and `generation` then grows. */
export interface OpenApiSource {
  readonly generation: number;
  all(): Iterable<OpenApiResource>;
}

/** The name under which a resource's type is published. */
export function definitionName({ custom, group, version, kind, schema }: OpenApiResource): string {
  return custom ? `${reversedDomain(group)}.${version}.${kind}` : schema.name;
}

export function listDefinitionName(resource: OpenApiResource): string {
  const name = definitionName(resource);
  return `${name.slice(0, name.lastIndexOf('.') + 1)}${resource.listKind}`;
}

/** `com.example.stable` of `stable.example.com`: custom groups are domains. */
function reversedDomain(group: string): string {
  return group.split('.').reverse().join('.');
}
