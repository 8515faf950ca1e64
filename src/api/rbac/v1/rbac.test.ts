import { describe, expect, test } from 'vitest';
import { clusterRoleBehaviour } from './cluster-role.behaviour.ts';
import { clusterRoleBindingBehaviour } from './cluster-role-binding.behaviour.ts';
import type { PolicyRule } from './policy-rule.ts';
import { roleBehaviour } from './role.behaviour.ts';
import { roleBindingBehaviour } from './role-binding.behaviour.ts';

const roles = roleBehaviour as Required<typeof roleBehaviour>;
const clusterRoles = clusterRoleBehaviour as Required<typeof clusterRoleBehaviour>;
const bindings = roleBindingBehaviour as Required<typeof roleBindingBehaviour>;
const clusterBindings = clusterRoleBindingBehaviour as Required<typeof clusterRoleBindingBehaviour>;
const GROUP = 'rbac.authorization.k8s.io';
const metadata = { name: 'a', namespace: 'ns' };

describe('a role', () => {
  test.each<[string, readonly PolicyRule[], readonly string[]]>([
    ['to read pods', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }], []],
    [
      'to do nothing',
      [{ verbs: [], apiGroups: [''], resources: ['pods'] }],
      ['rules[0].verbs: Required value: verbs must contain at least one value'],
    ],
    [
      'without groups',
      [{ verbs: ['get'], resources: ['pods'] }],
      ['rules[0].apiGroups: Required value: resource rules must supply at least one api group'],
    ],
    [
      'without resources',
      [{ verbs: ['get'], apiGroups: [''] }],
      ['rules[0].resources: Required value: resource rules must supply at least one resource'],
    ],
    [
      'to read paths, in a namespace',
      [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }],
      ['rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs'],
    ],
  ])('%s', (_, rules, errors) => {
    expect(roles.validate({ metadata, rules }).map(String)).toEqual(errors);
  });

  test('may have a name that is no DNS name, but is one in a URL', () => {
    expect(roles.validate({ metadata: { ...metadata, name: 'system:Some_Role' }, rules: [] }).map(String)).toEqual([]);
    expect(roles.validate({ metadata: { ...metadata, name: 'a/b' }, rules: [] }).map(String)).toEqual([
      'metadata.name: Invalid value: "a/b": may not contain \'/\'',
    ]);
  });
});

describe('a cluster role', () => {
  test.each<[string, object, readonly string[]]>([
    ['to read paths', { rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/x/*'] }] }, []],
    [
      'to read paths and pods in one rule',
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/'], apiGroups: [''], resources: ['pods'] }] },
      ['rules[0].nonResourceURLs: Invalid value: ["/"]: rules cannot apply to both regular resources and non-resource URLs'],
    ],
    [
      'gathered from none',
      { rules: [], aggregationRule: { clusterRoleSelectors: [] } },
      ['aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil'],
    ],
    [
      'gathered by a bad selector',
      { rules: [], aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'not a key': '' } }] } },
      [
        "aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: \"not a key\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.',
      ],
    ],
  ])('%s', (_, parts, errors) => {
    expect(clusterRoles.validate({ metadata: { name: 'a' }, ...parts } as never).map(String)).toEqual(errors);
  });
});

describe('a binding', () => {
  const roleRef = { apiGroup: GROUP, kind: 'Role', name: 'r' };

  test('gives subjects and roles the group that they are of', () => {
    const filled = bindings.defaults({
      metadata,
      roleRef: { kind: 'Role', name: 'r' } as never,
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'ns' },
      ],
    });
    expect(filled).toEqual({
      metadata: { name: 'a', namespace: 'ns' },
      roleRef: { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' },
      subjects: [
        { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
        { kind: 'ServiceAccount', name: 's', namespace: 'ns' },
      ],
    });
  });

  test.each<[string, readonly object[], readonly string[]]>([
    [
      'to a user, a group and an account',
      [
        { apiGroup: GROUP, kind: 'User', name: 'u' },
        { apiGroup: GROUP, kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's', namespace: 'ns' },
      ],
      [],
    ],
    ['to nobody in particular', [{ apiGroup: GROUP, kind: 'User', name: '' }], ['subjects[0].name: Required value']],
    ['to an account without a namespace', [{ kind: 'ServiceAccount', name: 's' }], []],
    [
      'to an account with a bad name, of a group',
      [{ kind: 'ServiceAccount', name: 'S_', namespace: 'ns', apiGroup: GROUP }],
      [
        "subjects[0].name: Invalid value: \"S_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        'subjects[0].apiGroup: Unsupported value: "rbac.authorization.k8s.io": supported values: ""',
      ],
    ],
    [
      'to something else',
      [{ kind: 'Robot', name: 'r' }],
      ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
    ],
    [
      'to a user of another group',
      [{ apiGroup: 'x', kind: 'User', name: 'u' }],
      ['subjects[0].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"'],
    ],
  ])('%s', (_, subjects, errors) => {
    expect(bindings.validate({ metadata, roleRef, subjects } as never).map(String)).toEqual(errors);
  });

  test('is of a role that exists in its group', () => {
    expect(bindings.validate({ metadata, roleRef: { apiGroup: 'x', kind: 'Thing', name: '' } }).map(String)).toEqual([
      'roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      'roleRef.kind: Unsupported value: "Thing": supported values: "Role", "ClusterRole"',
      'roleRef.name: Required value',
    ]);
    expect(clusterBindings.validate({ metadata: { name: 'a' }, roleRef }).map(String)).toEqual([
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    ]);
  });

  test('keeps its role', () => {
    const before = { metadata, roleRef };
    expect(bindings.validateUpdate({ metadata, roleRef: { ...roleRef, name: 'other' } }, before).map(String)).toEqual([
      'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"other"}: cannot change roleRef',
    ]);
  });

  test('prints its role and whom it is bound to', () => {
    const subjects = [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'ns' },
    ];
    expect(bindings.table.cells({ metadata, roleRef, subjects }, 0)).toEqual(['a', 'Role/r', '<unknown>', 'u', 'g', 'ns/s']);
  });
});
