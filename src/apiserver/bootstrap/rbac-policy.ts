import type { rbac } from '#api';
import type { RbacPolicy } from '../authz/rbac/reconcile-rbac.ts';
import { CONTROLLER_ROLES } from './controller-roles.ts';
import {
  account,
  clusterRoleBinding,
  controllerBinding,
  type DefaultClusterRoleBinding,
  type DefaultRole,
  type DefaultRoleBinding,
  group,
  resourceRule,
  role,
  roleBinding,
  user,
  withResourceNames,
} from './rbac-objects.ts';
import { SYSTEM_CLUSTER_ROLES } from './system-cluster-roles.ts';

const SYSTEM = 'kube-system';
const PUBLIC = 'kube-public';
const CONTROLLER_MANAGER = 'system:kube-controller-manager';
const SCHEDULER = 'system:kube-scheduler';
const AUTHENTICATED = group('system:authenticated');
const EVENTS = resourceRule('core events.k8s.io', 'events', 'create patch update');
const LEADER_ELECTION = [
  resourceRule('coordination.k8s.io', 'leases', 'create get list update watch'),
  resourceRule('coordination.k8s.io', 'leasecandidates', 'create get list update watch'),
];

/** The role system:node has no binding: the node authorizer grants it more precisely. */
const CLUSTER_ROLE_BINDINGS: readonly DefaultClusterRoleBinding[] = [
  clusterRoleBinding('cluster-admin', [group('system:masters')]),
  clusterRoleBinding('system:basic-user', [AUTHENTICATED]),
  clusterRoleBinding('system:discovery', [AUTHENTICATED]),
  clusterRoleBinding(CONTROLLER_MANAGER, [user(CONTROLLER_MANAGER)]),
  clusterRoleBinding('system:kube-dns', [account('kube-dns')]),
  clusterRoleBinding(SCHEDULER, [user(SCHEDULER)]),
  clusterRoleBinding('system:monitoring', [group('system:monitoring')]),
  clusterRoleBinding('system:node', []),
  clusterRoleBinding('system:node-proxier', [user('system:kube-proxy')]),
  clusterRoleBinding('system:public-info-viewer', [AUTHENTICATED, group('system:unauthenticated')]),
  clusterRoleBinding('system:service-account-issuer-discovery', [group('system:serviceaccounts')]),
  clusterRoleBinding('system:volume-scheduler', [user(SCHEDULER)]),
  ...CONTROLLER_ROLES.map(controllerBinding),
];

const ROLES: readonly DefaultRole[] = [
  role(PUBLIC, 'system:controller:bootstrap-signer', [
    resourceRule('core', 'configmaps', 'get list watch'),
    withResourceNames(resourceRule('core', 'configmaps', 'update'), 'cluster-info'),
    EVENTS,
  ]),
  role(SYSTEM, 'extension-apiserver-authentication-reader', [
    withResourceNames(resourceRule('core', 'configmaps', 'get list watch'), 'extension-apiserver-authentication'),
  ]),
  role(SYSTEM, 'system::leader-locking-kube-controller-manager', LEADER_ELECTION),
  role(SYSTEM, 'system::leader-locking-kube-scheduler', LEADER_ELECTION),
  role(SYSTEM, 'system:controller:bootstrap-signer', [resourceRule('core', 'secrets', 'get list watch')]),
  role(SYSTEM, 'system:controller:cloud-provider', [resourceRule('core', 'configmaps', 'create get list watch')]),
  role(SYSTEM, 'system:controller:token-cleaner', [resourceRule('core', 'secrets', 'delete get list watch'), EVENTS]),
];

const ROLE_BINDINGS: readonly DefaultRoleBinding[] = [
  roleBinding('system:controller:bootstrap-signer', { namespace: PUBLIC, subjects: [account('bootstrap-signer')] }),
  roleBinding('system::extension-apiserver-authentication-reader', {
    namespace: SYSTEM,
    role: 'extension-apiserver-authentication-reader',
    subjects: [user(CONTROLLER_MANAGER), user(SCHEDULER)],
  }),
  roleBinding('system::leader-locking-kube-controller-manager', {
    namespace: SYSTEM,
    subjects: [user(CONTROLLER_MANAGER), account('kube-controller-manager'), account('leader-election-controller')],
  }),
  roleBinding('system::leader-locking-kube-scheduler', { namespace: SYSTEM, subjects: [user(SCHEDULER), account('kube-scheduler')] }),
  roleBinding('system:controller:bootstrap-signer', { namespace: SYSTEM, subjects: [account('bootstrap-signer')] }),
  roleBinding('system:controller:cloud-provider', { namespace: SYSTEM, subjects: [account('cloud-provider')] }),
  roleBinding('system:controller:token-cleaner', { namespace: SYSTEM, subjects: [account('token-cleaner')] }),
];

/** The default roles and bindings. */
export const DEFAULT_RBAC_POLICY: RbacPolicy = {
  clusterRoles: [...SYSTEM_CLUSTER_ROLES, ...CONTROLLER_ROLES],
  clusterRoleBindings: CLUSTER_ROLE_BINDINGS,
  roles: ROLES,
  roleBindings: ROLE_BINDINGS,
};

/** The rules that all nodes share, before the node authorizer checks which objects belong to the node. */
export const NODE_RULES: readonly rbac.PolicyRule[] =
  SYSTEM_CLUSTER_ROLES.find(({ metadata }) => metadata.name === 'system:node')?.rules ?? [];
