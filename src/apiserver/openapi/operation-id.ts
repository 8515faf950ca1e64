import type { GroupVersionKind } from '#machinery';

/** A group as a word: `core`, `apps`, `rbacAuthorization`, `stableExampleCom`. The k8s.io suffix is dropped. */
export function groupWord(group: string): string {
  if (group === '') return 'core';
  const [first = '', ...rest] = group.replace(/\.k8s\.io$/, '').split(/[.-]/);
  return first + rest.map(capitalized).join('');
}

export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** `CoreV1`, `AppsV1`. */
export function groupVersionWord({ group, version }: { group: string; version: string }): string {
  return capitalized(groupWord(group)) + capitalized(version);
}

export function tagOf({ group, version }: { group: string; version: string }): string {
  return `${groupWord(group)}_${version}`;
}

export interface OperationIdParts {
  /** `list`, `create`, `connect`. */
  readonly verb: string;
  readonly resource: GroupVersionKind & { readonly namespaced: boolean };
  /** Between the version and the kind: `Collection`, `Get`. */
  readonly infix?: string;
  /** After the kind: `Status`, `List`, `ForAllNamespaces`. */
  readonly suffix?: string;
  readonly allNamespaces?: boolean;
}

/** `createCoreV1NamespacedPod`: upstream's ids, from which clients are generated. */
export function operationId({ verb, resource, infix = '', suffix = '', allNamespaces = false }: OperationIdParts): string {
  const scope = resource.namespaced && !allNamespaces ? 'Namespaced' : '';
  return `${verb}${groupVersionWord(resource)}${infix}${scope}${resource.kind}${suffix}${allNamespaces ? 'ForAllNamespaces' : ''}`;
}
