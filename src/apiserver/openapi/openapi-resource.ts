import type { GroupVersionKind, JsonObject, ObjectSchema } from '#machinery';

/** The properties of a resource version that OpenAPI describes. A ServedResource is one. */
export interface OpenApiResource extends GroupVersionKind {
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly listKind: string;
  readonly schema: ObjectSchema;
  /** Defined by a CRD: its own schema is published. */
  readonly custom: boolean;
  /** The `openAPIV3Schema` of a custom resource; absent when it has none. */
  readonly openAPIV3Schema?: JsonObject | undefined;
  readonly strategy?: { readonly returnsDeletedObject?: boolean; readonly selectableFields?: object };
  readonly subresources: ReadonlyMap<string, OpenApiSubresource>;
}

export interface OpenApiSubresource {
  readonly name: string;
  /** Its kind: usually the resource's own. */
  readonly kind: GroupVersionKind;
  readonly verbs: readonly string[];
}

/** The source of resources; `generation` increases when they change. */
export interface OpenApiSource {
  readonly generation: number;
  all(): Iterable<OpenApiResource>;
}

/** The definition name of a resource's type. */
export function definitionName({ custom, group, version, kind, schema }: OpenApiResource): string {
  return custom ? `${reversedDomain(group)}.${version}.${kind}` : schema.name;
}

export function listDefinitionName(resource: OpenApiResource): string {
  const name = definitionName(resource);
  return `${name.slice(0, name.lastIndexOf('.') + 1)}${resource.listKind}`;
}

/** `com.example.stable` for `stable.example.com`. */
function reversedDomain(group: string): string {
  return group.split('.').reverse().join('.');
}
