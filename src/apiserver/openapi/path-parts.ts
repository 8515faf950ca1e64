/** The media types in paths. */
export const OBJECT_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
export const LIST_TYPES = [...OBJECT_TYPES, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
export const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
export const CUSTOM_PATCH_TYPES = PATCH_TYPES.filter((type) => type !== 'application/strategic-merge-patch+json');
/** Custom resources have no protobuf. */
export const CUSTOM_OBJECT_TYPES = ['application/json', 'application/yaml'];
export const ANY_TYPES = ['*/*'];

/** What a request body that is no patch may be; upstream documents the exact types of custom resources only. */
export function bodyTypes({ custom }: { custom: boolean }): readonly string[] {
  return custom ? CUSTOM_OBJECT_TYPES : ANY_TYPES;
}

export const PATCH_DEFINITION = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch';

/** `/api/v1`, `/apis/apps/v1`. */
export function basePath({ group, version }: { group: string; version: string }): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
