import { describe, expect, it } from 'vitest';
import { apiregistration, core, discovery, type flowcontrol, KINDS, networking, type rbac } from '#api';
import { flowSchemasStrategy, priorityLevelConfigurationsStrategy } from '../registry/flowcontrol/flow-control.ts';
import { RBAC } from '../registry/rbac/group.ts';
import { DEFAULT_FLOW_SCHEMAS, DEFAULT_PRIORITY_LEVELS } from './flow-control-defaults.ts';
import {
  kubernetesEndpointSlice,
  kubernetesEndpoints,
  kubernetesService,
  kubernetesServiceCidr,
  kubernetesServiceIp,
} from './kubernetes-service.ts';
import { builtInApiServices, localApiService } from './local-api-services.ts';
import { DEFAULT_RBAC_POLICY, NODE_RULES } from './rbac-policy.ts';
import { extensionAuthentication, legacyTokenTracking, mergedAuthentication } from './system-config-maps.ts';

const { clusterRoles, clusterRoleBindings, roles, roleBindings } = DEFAULT_RBAC_POLICY;

function clusterRole(name: string): rbac.ClusterRole {
  const role = clusterRoles.find(({ metadata }) => metadata?.name === name);
  if (!role) throw new Error(`no role ${name}`);
  return role as rbac.ClusterRole;
}

function problemsOf(validate: ((object: never) => readonly unknown[]) | undefined, object: unknown): readonly string[] {
  return (validate?.(object as never) ?? []).map(String);
}

describe('the default roles and bindings', () => {
  it('are as many as upstream has', () => {
    expect([clusterRoles.length, clusterRoleBindings.length, roles.length, roleBindings.length]).toEqual([69, 50, 7, 7]);
  });

  it('have names of their own', () => {
    for (const objects of [clusterRoles, clusterRoleBindings, roles, roleBindings]) {
      const keys = objects.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it('carry the label and the annotation by which a server knows them', () => {
    for (const { metadata } of [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings]) {
      expect(metadata?.labels).toMatchObject({ 'kubernetes.io/bootstrapping': 'rbac-defaults' });
      expect(metadata?.annotations).toEqual({ 'rbac.authorization.kubernetes.io/autoupdate': 'true' });
    }
  });

  it('are valid', () => {
    const byKind = new Map(RBAC.strategies.map((strategy) => [strategy.kind.kind, strategy]));
    const objects: readonly (readonly [string, readonly unknown[]])[] = [
      ['ClusterRole', clusterRoles],
      ['ClusterRoleBinding', clusterRoleBindings],
      ['Role', roles],
      ['RoleBinding', roleBindings],
    ];
    for (const [kind, all] of objects) {
      for (const object of all) expect(problemsOf(byKind.get(kind)?.validate, object)).toEqual([]);
    }
  });

  it('bind only roles that exist', () => {
    const names = new Set(clusterRoles.map(({ metadata }) => metadata?.name));
    for (const { roleRef } of clusterRoleBindings) expect(names).toContain(roleRef.name);
    const keys = new Set(roles.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`));
    for (const { metadata, roleRef } of roleBindings) expect(keys).toContain(`${metadata?.namespace}/${roleRef.name}`);
  });

  it('gather edit into admin, and view into edit', () => {
    expect(clusterRole('admin').aggregationRule).toEqual({
      clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } }],
    });
    expect(clusterRole('edit').metadata.labels).toMatchObject({ 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' });
    expect(clusterRole('view').metadata.labels).toMatchObject({ 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' });
  });

  it('let cluster-admin do everything, and viewers see no secrets', () => {
    expect(clusterRole('cluster-admin').rules).toEqual([
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ]);
    const seen = clusterRole('system:aggregate-to-view').rules?.flatMap(({ resources }) => resources ?? []);
    expect(seen).toContain('configmaps');
    expect(seen).not.toContain('secrets');
  });

  it('give each controller its own account', () => {
    const binding = clusterRoleBindings.find(({ metadata }) => metadata?.name === 'system:controller:job-controller');
    expect(binding?.subjects).toEqual([{ kind: 'ServiceAccount', name: 'job-controller', namespace: 'kube-system' }]);
  });

  it('bind the role of nodes to nobody, whose rules the node authorizer uses', () => {
    const binding = clusterRoleBindings.find(({ metadata }) => metadata?.name === 'system:node');
    expect(binding?.subjects).toBeUndefined();
    expect(NODE_RULES).toHaveLength(25);
  });
});

describe('the default flow control', () => {
  it('is valid', () => {
    for (const object of DEFAULT_FLOW_SCHEMAS) expect(problemsOf(flowSchemasStrategy.validate, object)).toEqual([]);
    for (const object of DEFAULT_PRIORITY_LEVELS) {
      const filled = priorityLevelConfigurationsStrategy.defaults?.(object as flowcontrol.PriorityLevelConfiguration);
      expect(filled).toEqual(object);
      expect(problemsOf(priorityLevelConfigurationsStrategy.validate, object)).toEqual([]);
    }
  });

  it('sends every request to a level that exists', () => {
    const levels = DEFAULT_PRIORITY_LEVELS.map(({ metadata }) => metadata.name);
    for (const { spec } of DEFAULT_FLOW_SCHEMAS) expect(levels).toContain(spec.priorityLevelConfiguration?.name);
  });

  it('matches probes before anything but administrators', () => {
    const byPrecedence = DEFAULT_FLOW_SCHEMAS.toSorted((a, b) => (a.spec.matchingPrecedence ?? 0) - (b.spec.matchingPrecedence ?? 0));
    expect(byPrecedence.map(({ metadata }) => metadata.name).slice(0, 3)).toEqual(['exempt', 'probes', 'system-leader-election']);
  });
});

describe('the registrations of local API groups', () => {
  it('cover every group version of the built-in kinds', () => {
    const served = new Set([...KINDS].map(({ group, version }) => `${version}.${group}`));
    const registered = new Set(builtInApiServices().map(({ metadata }) => metadata.name));
    served.delete('v1.apiregistration.k8s.io');
    expect([...served].filter((name) => !registered.has(name))).toEqual([]);
  });

  it('are valid', () => {
    for (const service of builtInApiServices()) {
      expect(problemsOf(apiregistration.apiServiceBehaviour.validate as never, service)).toEqual([]);
    }
  });

  it('put custom resources last', () => {
    expect(localApiService({ group: 'example.com', version: 'v1' })).toEqual({
      metadata: { name: 'v1.example.com', labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
      spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
    });
  });
});

describe('the kubernetes service', () => {
  it.each([
    ['10.96.0.0/16', '10.96.0.1'],
    ['192.168.3.128/25', '192.168.3.129'],
    ['fd00:10:96::/112', 'fd00:10:96::1'],
  ])('has the first address of %s', (cidr, ip) => {
    expect(kubernetesServiceIp(cidr)).toBe(ip);
  });

  it('refuses what is no range', () => {
    expect(() => kubernetesServiceIp('10.96.0.1')).toThrow('not a range of addresses: 10.96.0.1');
  });

  it.each([
    [undefined, 'ClusterIP'],
    [30443, 'NodePort'],
  ])('with the node port %s is of type %s', (nodePort, type) => {
    const service = kubernetesService({ clusterIP: '10.96.0.1', port: 443, targetPort: 6443, ...(nodePort && { nodePort }) });
    expect(service.spec?.type).toBe(type);
    expect(problemsOf(core.serviceBehaviour.validate as never, core.serviceBehaviour.defaults?.(withFamilies(service)))).toEqual([]);
  });

  it('leads to the servers, in both forms', () => {
    const servers = { addresses: ['172.18.0.2', '172.18.0.3'], port: 6443 };
    const endpoints = kubernetesEndpoints(servers);
    const slice = kubernetesEndpointSlice(servers);
    expect(endpoints.subsets?.[0]?.addresses).toEqual([{ ip: '172.18.0.2' }, { ip: '172.18.0.3' }]);
    expect(slice.endpoints?.map(({ addresses }) => addresses)).toEqual([['172.18.0.2'], ['172.18.0.3']]);
    expect(slice.addressType).toBe('IPv4');
    expect(problemsOf(core.endpointsBehaviour.validate as never, endpoints)).toEqual([]);
    expect(problemsOf(discovery.endpointSliceBehaviour.validate as never, slice)).toEqual([]);
  });

  it('has a slice of the addresses of one family', () => {
    expect(kubernetesEndpointSlice({ addresses: ['fd00::2'], port: 6443 }).addressType).toBe('IPv6');
    const mixed = kubernetesEndpointSlice({ addresses: ['fd00::2', '10.0.0.2'], port: 6443 });
    expect(mixed.endpoints?.map(({ addresses }) => addresses)).toEqual([['10.0.0.2']]);
  });

  it('has a valid ServiceCIDR', () => {
    expect(problemsOf(networking.serviceCIDRBehaviour.validate as never, kubernetesServiceCidr(['10.96.0.0/16']))).toEqual([]);
  });
});

function withFamilies(service: core.Service): core.Service {
  return { ...service, spec: { ...service.spec, clusterIPs: ['10.96.0.1'], ipFamilies: ['IPv4'] } };
}

describe('the config maps of the system', () => {
  it('tell since when the use of tokens in secrets is noted', () => {
    expect(legacyTokenTracking(Date.UTC(2026, 1, 3, 4)).data).toEqual({ since: '2026-02-03' });
  });

  it('tell which authorities clients are trusted by, each once', () => {
    const [a, b] = ['YQ==', 'Yg=='].map((text) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`) as [string, string];
    const first = extensionAuthentication([a]);
    expect(first.data).toEqual({ 'client-ca-file': a });
    expect(mergedAuthentication(first.data ?? {}, extensionAuthentication([a + b]).data ?? {})).toEqual({ 'client-ca-file': a + b });
    expect(extensionAuthentication([]).data).toEqual({});
  });
});
