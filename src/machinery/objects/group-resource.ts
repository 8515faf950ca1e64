/** A resource (`pods`) of a group; the core group is the empty string. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** A kind (`Pod`) of a group. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}

/** `deployments.apps`, or `pods` for the core group: how messages name a resource. */
export function groupResourceText({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** `Deployment.apps`, or `Pod` for the core group. */
export function groupKindText({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${kind}.${group}`;
}

/** Splits an `apiVersion`. Throws as upstream words it when there is more than one slash. */
export function parseGroupVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  if (slash < 0) return { group: '', version: apiVersion };
  if (apiVersion.indexOf('/', slash + 1) >= 0) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}
