import type { meta, rbac } from '#api';

/** A short notation for rules, roles and bindings. Words are separated by spaces; `core` is the group without a name. */
export function resourceRule(groups: string, resources: string, verbs: string): rbac.PolicyRule {
  const apiGroups = groups.split(' ').map((group) => (group === 'core' ? '' : group));
  return { verbs: verbs.split(' '), apiGroups, resources: resources.split(' ') };
}

/** The rule restricted to named objects. */
export function withResourceNames(rule: rbac.PolicyRule, names: string): rbac.PolicyRule {
  return { ...rule, resourceNames: names.split(' ') };
}

export function urlRule(paths: string, verbs: string): rbac.PolicyRule {
  return { verbs: verbs.split(' '), nonResourceURLs: paths.split(' ') };
}

const RBAC = 'rbac.authorization.k8s.io';
const CONTROLLER_PREFIX = 'system:controller:';
const SYSTEM = 'kube-system';
const LABELS = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const ANNOTATIONS = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };

type Metadata = meta.ObjectMeta & { readonly name: string };

/** Reconciled at every server start unless annotated otherwise. */
function metadataOf(name: string, extra: Partial<Metadata> = {}): Metadata {
  return { name, ...extra, labels: { ...LABELS, ...extra.labels }, annotations: ANNOTATIONS };
}

export type DefaultClusterRole = rbac.ClusterRole & { readonly metadata: Metadata };
export type DefaultRole = rbac.Role & { readonly metadata: Metadata };
export type DefaultClusterRoleBinding = rbac.ClusterRoleBinding & { readonly metadata: Metadata };
export type DefaultRoleBinding = rbac.RoleBinding & { readonly metadata: Metadata };

function aggregationLabel(role: string): Readonly<Record<string, string>> {
  return { [`${RBAC}/aggregate-to-${role}`]: 'true' };
}

/** A role; `partOf` names the role that aggregates it. */
export function clusterRole(name: string, rules: readonly rbac.PolicyRule[], partOf?: string): DefaultClusterRole {
  return { metadata: metadataOf(name, partOf ? { labels: aggregationLabel(partOf) } : {}), rules };
}

/** A ClusterRole whose rules are aggregated from others. */
export function aggregatedRole(name: string, partOf?: string): DefaultClusterRole {
  const { metadata } = clusterRole(name, [], partOf);
  return { metadata, rules: [], aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregationLabel(name) }] } };
}

export function controllerRole(controller: string, rules: readonly rbac.PolicyRule[]): DefaultClusterRole {
  return clusterRole(CONTROLLER_PREFIX + controller, rules);
}

export function role(namespace: string, name: string, rules: readonly rbac.PolicyRule[]): DefaultRole {
  return { metadata: metadataOf(name, { namespace }), rules };
}

export function group(name: string): rbac.Subject {
  return { kind: 'Group', apiGroup: RBAC, name };
}

export function user(name: string): rbac.Subject {
  return { kind: 'User', apiGroup: RBAC, name };
}

/** A service account in kube-system. */
export function account(name: string): rbac.Subject {
  return { kind: 'ServiceAccount', name, namespace: SYSTEM };
}

/** Binds a cluster role under its own name. */
export function clusterRoleBinding(name: string, subjects: readonly rbac.Subject[]): DefaultClusterRoleBinding {
  return { metadata: metadataOf(name), roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name }, ...(subjects.length > 0 && { subjects }) };
}

/** Binds a controller's role to its service account. */
export function controllerBinding({ metadata: { name } }: DefaultClusterRole): DefaultClusterRoleBinding {
  return clusterRoleBinding(name, [account(name.slice(CONTROLLER_PREFIX.length))]);
}

interface RoleBindingParts {
  readonly namespace: string;
  readonly subjects: readonly rbac.Subject[];
  /** The role's name, if it differs from the binding's. */
  readonly role?: string;
}

export function roleBinding(name: string, { namespace, subjects, role = name }: RoleBindingParts): DefaultRoleBinding {
  return { metadata: metadataOf(name, { namespace }), roleRef: { apiGroup: RBAC, kind: 'Role', name: role }, subjects };
}
