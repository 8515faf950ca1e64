import type { core } from '#api';
import { sameJson } from '#machinery';

export const ROOT_CA_CONFIG_MAP = 'kube-root-ca.crt';
const DESCRIPTION_ANNOTATION = 'kubernetes.io/description';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

export type RootCaAction =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly map: core.ConfigMap }
  | { readonly type: 'update'; readonly map: core.ConfigMap };

/** The action that brings the kube-root-ca.crt ConfigMap up to date. */
export function reconcileRootCa(namespace: string, current: core.ConfigMap | undefined, rootCa: string): RootCaAction {
  const data = { 'ca.crt': rootCa };
  const described = { [DESCRIPTION_ANNOTATION]: DESCRIPTION };
  if (current === undefined) {
    return { type: 'create', map: { metadata: { name: ROOT_CA_CONFIG_MAP, namespace, annotations: described }, data } };
  }
  const { annotations = {} } = current.metadata;
  if (sameJson(current.data ?? {}, data) && annotations[DESCRIPTION_ANNOTATION]) return { type: 'none' };
  return { type: 'update', map: { ...current, metadata: { ...current.metadata, annotations: { ...annotations, ...described } }, data } };
}
