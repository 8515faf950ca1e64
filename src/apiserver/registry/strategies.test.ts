import { describe, expect, test } from 'vitest';
import type { certificates, core, discovery, meta, resource } from '#api';
import { certificateSigningRequestsStrategy } from './certificates/certificate-signing-requests.ts';
import { namespacesStrategy } from './core/namespaces.ts';
import { nodesStrategy } from './core/nodes.ts';
import { persistentVolumeClaimsStrategy } from './core/persistent-volume-claims.ts';
import { persistentVolumesStrategy } from './core/persistent-volumes.ts';
import { servicesStrategy } from './core/services.ts';
import { endpointSlicesStrategy } from './discovery/endpoint-slices.ts';
import { keepMetadata } from './generic/keep-metadata.ts';
import type { ResourceStrategy } from './generic/strategy.ts';
import { BUILT_IN_GROUPS } from './groups.ts';
import { claimStatusRequirements } from './resource/claim-authorization.ts';
import { resourceClaimsStrategy } from './resource/resource-claims.ts';
import { resourceSlicesStrategy } from './resource/resource-slices.ts';

const SCOPE = { user: { name: 'alice', uid: '7', groups: ['devs'], extra: { team: ['a'] } }, now: Date.parse('2030-01-01T00:00:00Z') };
const ALL: readonly ResourceStrategy<never>[] = BUILT_IN_GROUPS.flatMap(({ strategies }) => strategies) as never;
const STABLE = ALL.filter(({ kind }) => /^v\d+$/.test(kind.version));
const namesOf = (predicate: (strategy: ResourceStrategy<never>) => boolean | undefined) =>
  STABLE.filter(predicate)
    .map(({ kind }) => `${kind.resource}${kind.group === '' ? '' : `.${kind.group}`}`)
    .sort();

describe('the list of strategies', () => {
  test('has each kind once', () => {
    const keys = ALL.map(({ kind }) => `${kind.group}/${kind.version}/${kind.kind}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('says what a PUT creates', () => {
    expect(namesOf(({ allowCreateOnUpdate }) => allowCreateOnUpdate)).toEqual([
      'clusterrolebindings.rbac.authorization.k8s.io',
      'clusterroles.rbac.authorization.k8s.io',
      'endpoints',
      'events',
      'events.events.k8s.io',
      'leases.coordination.k8s.io',
      'limitranges',
      'rolebindings.rbac.authorization.k8s.io',
      'roles.rbac.authorization.k8s.io',
      'runtimeclasses.node.k8s.io',
      'services',
    ]);
  });

  test('says what cannot be overwritten blindly', () => {
    expect(namesOf(({ allowUnconditionalUpdate }) => allowUnconditionalUpdate === false)).toEqual([
      'apiservices.apiregistration.k8s.io',
      'csidrivers.storage.k8s.io',
      'csinodes.storage.k8s.io',
      'csistoragecapacities.storage.k8s.io',
      'customresourcedefinitions.apiextensions.k8s.io',
      'leases.coordination.k8s.io',
      'mutatingadmissionpolicies.admissionregistration.k8s.io',
      'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
      'mutatingwebhookconfigurations.admissionregistration.k8s.io',
      'poddisruptionbudgets.policy',
      'runtimeclasses.node.k8s.io',
      'validatingadmissionpolicies.admissionregistration.k8s.io',
      'validatingadmissionpolicybindings.admissionregistration.k8s.io',
      'validatingwebhookconfigurations.admissionregistration.k8s.io',
      'volumeattachments.storage.k8s.io',
    ]);
  });

  test('says what has a status of its own', () => {
    expect(namesOf(({ hasStatus, subresources }) => hasStatus || subresources?.status !== undefined)).toEqual([
      'apiservices.apiregistration.k8s.io',
      'certificatesigningrequests.certificates.k8s.io',
      'cronjobs.batch',
      'customresourcedefinitions.apiextensions.k8s.io',
      'daemonsets.apps',
      'deployments.apps',
      'flowschemas.flowcontrol.apiserver.k8s.io',
      'horizontalpodautoscalers.autoscaling',
      'horizontalpodautoscalers.autoscaling',
      'ingresses.networking.k8s.io',
      'jobs.batch',
      'namespaces',
      'nodes',
      'persistentvolumeclaims',
      'persistentvolumes',
      'poddisruptionbudgets.policy',
      'pods',
      'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
      'replicasets.apps',
      'replicationcontrollers',
      'resourceclaims.resource.k8s.io',
      'resourcequotas',
      'servicecidrs.networking.k8s.io',
      'services',
      'statefulsets.apps',
      'validatingadmissionpolicies.admissionregistration.k8s.io',
      'volumeattachments.storage.k8s.io',
    ]);
  });

  test('says what counts its generations', () => {
    expect(namesOf(({ tracksGeneration }) => tracksGeneration)).toEqual([
      'cronjobs.batch',
      'customresourcedefinitions.apiextensions.k8s.io',
      'daemonsets.apps',
      'deployments.apps',
      'deviceclasses.resource.k8s.io',
      'flowschemas.flowcontrol.apiserver.k8s.io',
      'ingressclasses.networking.k8s.io',
      'ingresses.networking.k8s.io',
      'jobs.batch',
      'mutatingadmissionpolicies.admissionregistration.k8s.io',
      'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
      'mutatingwebhookconfigurations.admissionregistration.k8s.io',
      'networkpolicies.networking.k8s.io',
      'poddisruptionbudgets.policy',
      'pods',
      'podtemplates',
      'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
      'replicasets.apps',
      'replicationcontrollers',
      'resourceslices.resource.k8s.io',
      'statefulsets.apps',
      'validatingadmissionpolicies.admissionregistration.k8s.io',
      'validatingadmissionpolicybindings.admissionregistration.k8s.io',
      'validatingwebhookconfigurations.admissionregistration.k8s.io',
    ]);
  });
});

describe('namespaces', () => {
  const { prepareForCreate, prepareForUpdate, subresources } = namespacesStrategy;

  test('begin active, held by the server and labelled with their names', () => {
    expect(prepareForCreate?.({ metadata: { name: 'a' }, status: { phase: 'Odd' } }, SCOPE)).toEqual({
      metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } },
      status: { phase: 'Active' },
      spec: { finalizers: ['kubernetes'] },
    });
  });

  test('lose finalizers in their own way only', () => {
    const old: core.Namespace = { metadata: { name: 'a' }, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    expect(prepareForUpdate?.({ ...old, spec: {} }, old, SCOPE)?.spec).toEqual({ finalizers: ['kubernetes'] });
    expect(subresources?.finalize?.prepareForUpdate({ ...old, spec: {}, status: {} }, old, SCOPE)).toEqual({ ...old, spec: {} });
  });
});

describe('volumes', () => {
  test('begin pending, since now', () => {
    const created = persistentVolumesStrategy.prepareForCreate?.({ metadata: { name: 'v' }, status: { phase: 'Bound' } }, SCOPE);
    expect(created?.status).toEqual({ phase: 'Pending', lastPhaseTransitionTime: '2030-01-01T00:00:00Z' });
  });

  test('remember when their phase changed', () => {
    const old: core.PersistentVolume = {
      metadata: { name: 'v' },
      status: { phase: 'Pending', lastPhaseTransitionTime: '2029-01-01T00:00:00Z' },
    };
    const prepared = (status: object) => persistentVolumesStrategy.prepareForStatusUpdate?.({ ...old, status }, old, SCOPE).status;
    expect(prepared({ phase: 'Bound' })?.lastPhaseTransitionTime).toBe('2030-01-01T00:00:00Z');
    expect(prepared({ phase: 'Pending' })?.lastPhaseTransitionTime).toBe('2029-01-01T00:00:00Z');
    expect(prepared({ phase: 'Bound', lastPhaseTransitionTime: '2028-01-01T00:00:00Z' })?.lastPhaseTransitionTime).toBe(
      '2028-01-01T00:00:00Z',
    );
  });

  test.each<[string, core.PersistentVolumeClaimSpec, unknown]>([
    [
      'says its source in both ways',
      { dataSource: { kind: 'PersistentVolumeClaim', name: 'c' } },
      { dataSource: { kind: 'PersistentVolumeClaim', name: 'c' }, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'c' } },
    ],
    [
      'says its source in both ways, the other way round',
      { dataSourceRef: { apiGroup: 'example.com', kind: 'Tape', name: 't' } },
      {
        dataSourceRef: { apiGroup: 'example.com', kind: 'Tape', name: 't' },
        dataSource: { apiGroup: 'example.com', kind: 'Tape', name: 't' },
      },
    ],
    ['forgets a source that nobody understands', { dataSource: { apiGroup: 'example.com', kind: 'Tape', name: 't' } }, {}],
    ['forgets a source of another namespace', { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'c', namespace: 'other' } }, {}],
  ])('a claim %s', (_, spec, prepared) => {
    const claim: core.PersistentVolumeClaim = { metadata: { name: 'c' }, spec };
    const created = persistentVolumeClaimsStrategy.prepareForCreate?.(claim, SCOPE);
    expect(created?.spec).toEqual(prepared);
    expect(created?.status).toEqual({ phase: 'Pending' });
  });
});

test('nodes can be created with a status, and update it through the subresource only', () => {
  const node: core.Node = { metadata: { name: 'n' }, spec: { unschedulable: true }, status: { phase: 'Running', config: {} } };
  expect(nodesStrategy.prepareForCreate?.(node, SCOPE)).toEqual({ ...node, status: { phase: 'Running' } });
  expect(nodesStrategy.prepareForUpdate?.({ ...node, status: {} }, node, SCOPE)?.status).toEqual(node.status);
  expect(nodesStrategy.subresources?.status?.prepareForUpdate({ ...node, spec: {} }, node, SCOPE)).toEqual(node);
});

describe('services that change their type', () => {
  const old: core.Service = {
    metadata: { name: 'a' },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.7',
      clusterIPs: ['10.96.0.7'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      allocateLoadBalancerNodePorts: true,
      loadBalancerClass: 'example.com/lb',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30500,
      ports: [{ port: 80, nodePort: 30080 }],
    },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
  };
  const changed = (spec: core.ServiceSpec) => servicesStrategy.prepareForUpdate?.({ ...old, spec: { ...old.spec, ...spec } }, old, SCOPE);

  test('lose what they had for the old one', () => {
    expect(changed({ type: 'ClusterIP' })).toEqual({
      metadata: { name: 'a' },
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.96.0.7',
        clusterIPs: ['10.96.0.7'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        ports: [{ port: 80 }],
      },
      status: { loadBalancer: {} },
    });
    expect(changed({ type: 'ExternalName', externalName: 'example.com' })?.spec).toEqual({
      type: 'ExternalName',
      ports: [{ port: 80 }],
      externalName: 'example.com',
    });
  });

  test('keep what the client changed in the same update, to be refused', () => {
    expect(changed({ type: 'ClusterIP', ports: [{ port: 80, nodePort: 30081 }] })?.spec?.ports).toEqual([{ port: 80, nodePort: 30081 }]);
  });
});

test('the generation of an EndpointSlice increases with changes that proxies observe', () => {
  const slice: discovery.EndpointSlice = { metadata: { name: 'a', generation: 4 }, addressType: 'IPv4', endpoints: [] };
  const generation = (parts: Partial<discovery.EndpointSlice>) =>
    endpointSlicesStrategy.prepareForUpdate?.({ ...slice, ...parts }, slice, SCOPE)?.metadata.generation;
  expect(endpointSlicesStrategy.prepareForCreate?.(slice, SCOPE)?.metadata.generation).toBe(1);
  expect(generation({})).toBe(4);
  expect(generation({ ports: [{ port: 80 }] })).toBe(5);
  expect(generation({ metadata: { ...slice.metadata, labels: { a: 'b' } } })).toBe(5);
  expect(generation({ metadata: { ...slice.metadata, annotations: { a: 'b' } } })).toBe(4);
});

describe('requests for certificates', () => {
  type Request = certificates.CertificateSigningRequest;
  const { prepareForCreate, prepareForUpdate, subresources } = certificateSigningRequestsStrategy;
  const spec = { request: '', signerName: 'example.com/s', usages: ['client auth'] };
  const stored: Request = { metadata: { name: 'r' }, spec: { ...spec, username: 'alice' }, status: {} };

  test('are by who sends them', () => {
    expect(prepareForCreate?.({ metadata: { name: 'r' }, spec: { ...spec, username: 'bob', groups: ['admins'] } }, SCOPE)).toEqual({
      metadata: { name: 'r' },
      spec: {
        request: '',
        signerName: 'example.com/s',
        usages: ['client auth'],
        username: 'alice',
        uid: '7',
        groups: ['devs'],
        extra: { team: ['a'] },
      },
      status: {},
    });
  });

  test('stay as they are', () => {
    expect(prepareForUpdate?.({ ...stored, spec, status: { certificate: 'x' } }, stored, SCOPE)).toEqual(stored);
  });

  test('get verdicts with times, and nothing else, by approval', () => {
    const approved = { ...stored, spec, status: { certificate: 'x', conditions: [{ type: 'Approved', status: 'True' }] } };
    expect(subresources?.approval?.prepareForUpdate(approved, stored, SCOPE)).toEqual({
      metadata: { name: 'r' },
      spec: { request: '', signerName: 'example.com/s', usages: ['client auth'], username: 'alice' },
      status: {
        conditions: [
          { type: 'Approved', status: 'True', lastUpdateTime: '2030-01-01T00:00:00Z', lastTransitionTime: '2030-01-01T00:00:00Z' },
        ],
      },
    });
  });

  test('keep verdicts, and get a certificate, by status', () => {
    const verdict = {
      type: 'Approved',
      status: 'True',
      reason: 'Yes',
      lastUpdateTime: '2029-01-01T00:00:00Z',
      lastTransitionTime: '2029-01-01T00:00:00Z',
    };
    const old: Request = { ...stored, status: { conditions: [verdict] } };
    const update: Request = { ...old, status: { certificate: 'x', conditions: [{ ...verdict, reason: 'Changed' }] } };
    expect(subresources?.status?.prepareForUpdate(update, old, SCOPE)).toEqual({
      ...old,
      status: { certificate: 'x', conditions: [verdict] },
    });
  });
});

describe('devices', () => {
  const RESULT = { request: 'r', driver: 'd', pool: 'p', device: 'x' };
  const claim = (status: object): resource.ResourceClaim => ({
    metadata: { name: 'c', namespace: 'ns' },
    spec: { devices: { requests: [] } },
    status,
  });
  const allocated = { allocation: { devices: { results: [RESULT] } } };

  test('lose what drivers said of them when they are given back', () => {
    const report = { driver: 'd', pool: 'p', device: 'x', conditions: [] };
    const other = { ...report, device: 'y' };
    const prepared = resourceClaimsStrategy.prepareForStatusUpdate?.(claim({ devices: [report, other] }), claim(allocated), SCOPE);
    expect(prepared?.status).toEqual({ devices: [other] });
  });

  test('are tainted since now unless told, and have no lists of values yet', () => {
    const slice = {
      metadata: { name: 's' },
      spec: {
        driver: 'd',
        devices: [
          {
            name: 'x',
            taints: [{ key: 'k', effect: 'NoExecute' }],
            attributes: { a: { ints: [1] } },
            nodeAllocatableResourceMappings: { cpu: {} },
          },
        ],
      },
    };
    const created = resourceSlicesStrategy.prepareForCreate?.(slice as never, SCOPE);
    expect(created?.spec?.devices).toEqual([
      { name: 'x', taints: [{ timeAdded: '2030-01-01T00:00:00Z', key: 'k', effect: 'NoExecute' }], attributes: { a: {} } },
    ]);
    const updated = resourceSlicesStrategy.prepareForUpdate?.(slice as never, slice as never, SCOPE);
    expect(updated?.spec?.devices?.[0]?.attributes).toEqual({ a: { ints: [1] } });
  });

  test('are bound by who may bind', () => {
    const [need, ...others] = claimStatusRequirements(claim(allocated), claim({}), { user: SCOPE.user, verb: 'update' });
    expect(others).toEqual([]);
    expect(need?.anyOf).toEqual([{ verb: 'update', subresource: 'binding', namespace: '', name: '' }]);
    expect(String(need?.deniedError('no'))).toBe(
      'status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission: no',
    );
  });

  test('are reported on by their drivers, which may be of the node', () => {
    const nodeSelector = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }] };
    const allocation = { ...allocated.allocation, nodeSelector };
    const changed = claim({ allocation, devices: [{ driver: 'd', pool: 'p', device: 'x', conditions: [] }] });
    const user = { name: 'system:serviceaccount:ns:d', groups: [], extra: { 'authentication.kubernetes.io/node-name': ['n'] } };
    const needs = (subject: typeof user) =>
      claimStatusRequirements(changed, claim({ allocation }), { user: subject, verb: 'patch' }).map(({ anyOf }) => anyOf);
    expect(needs(user)).toEqual([
      [
        { verb: 'associated-node:patch', subresource: 'driver', namespace: 'ns', name: 'd' },
        { verb: 'arbitrary-node:patch', subresource: 'driver', namespace: 'ns', name: 'd' },
      ],
    ]);
    expect(needs({ ...user, name: 'alice' })).toEqual([
      [{ verb: 'arbitrary-node:patch', subresource: 'driver', namespace: 'ns', name: 'd' }],
    ]);
    expect(claimStatusRequirements(changed, changed, { user, verb: 'patch' })).toEqual([]);
  });
});

test('a status that keeps metadata keeps labels, annotations, owners and finalizers', () => {
  type Stored = { readonly metadata: meta.ObjectMeta };
  const old: Stored = { metadata: { name: 'a', labels: { a: 'b' }, finalizers: ['example.com/x'] } };
  const update: Stored = { metadata: { name: 'a', resourceVersion: '2', labels: { c: 'd' }, annotations: { e: 'f' } } };
  expect(keepMetadata(update, old).metadata).toEqual({
    name: 'a',
    resourceVersion: '2',
    labels: { a: 'b' },
    finalizers: ['example.com/x'],
  });
});
