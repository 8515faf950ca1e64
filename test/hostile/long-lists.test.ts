import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// Lists and strings of any length are answered without blocking the event loop.

const COUNT = 12_000;
let hostile: HostileCluster;

beforeAll(async () => {
  hostile = await startHostileCluster({ controllerManager: { controllers: [] } });
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default' } };
  await hostile.send(`${core}/serviceaccounts`, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(account) });
});
afterAll(() => hostile[Symbol.asyncDispose]());

const many = <T>(make: (i: number) => T, count = COUNT): T[] => Array.from({ length: count }, (_, i) => make(i));
const container = { name: 'c', image: 'busybox' };
const pod = (spec: object, metadata: object = {}) => ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', ...metadata }, spec });
const withContainer = (fields: object) => pod({ containers: [{ ...container, ...fields }] });
const withVolume = (fields: object) => pod({ containers: [container], volumes: [{ name: 'v', ...fields }] });
const configMap = (metadata: object) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm', ...metadata } });
const role = (rules: readonly object[]) => ({ kind: 'Role', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'r' }, rules });
const core = '/api/v1/namespaces/default';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
const term = { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } };
const selector = { labelSelector: { matchLabels: { a: 'b' } }, topologyKey: 'zone' };

const template = (spec: object) => ({ metadata: { labels: { a: 'b' } }, spec: { containers: [container], ...spec } });
const replicaSet = (spec: object) => ({
  ...{ kind: 'ReplicaSet', apiVersion: 'apps/v1', metadata: { name: 'r' } },
  spec: { selector: { matchLabels: { a: 'b' } }, template: template(spec) },
});
/** About a megabyte of empty objects. */
const MEGABYTE = 300_000;

const CASES: readonly (readonly [string, string, object])[] = [
  ['containers', `${core}/pods`, pod({ containers: many((i) => ({ name: `c${i}`, image: 'busybox' })) })],
  ['containers of one name', `${core}/pods`, pod({ containers: many(() => container) })],
  [
    'readiness gates without a field',
    '/apis/apps/v1/namespaces/default/replicasets',
    replicaSet({ readinessGates: many(() => ({}), MEGABYTE) }),
  ],
  [
    'service ports without a field',
    `${core}/services`,
    { kind: 'Service', apiVersion: 'v1', metadata: { name: 's' }, spec: { ports: many(() => ({}), 100_000) } },
  ],
  [
    'selector requirements without a field',
    '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    {
      kind: 'PodDisruptionBudget',
      apiVersion: 'policy/v1',
      metadata: { name: 'p' },
      spec: { selector: { matchExpressions: many(() => ({}), 100_000) } },
    },
  ],
  ['init containers', `${core}/pods`, pod({ containers: [container], initContainers: many((i) => ({ name: `i${i}`, image: 'busybox' })) })],
  ['variables', `${core}/pods`, withContainer({ env: many((i) => ({ name: `V${i}`, value: '$(V)' })) })],
  ['variables of one name', `${core}/pods`, withContainer({ env: many(() => ({ name: 'V', value: 'x' })) })],
  ['ports', `${core}/pods`, withContainer({ ports: many((i) => ({ containerPort: i + 1, hostPort: i + 1 })) })],
  ['ports of one number', `${core}/pods`, withContainer({ ports: many(() => ({ containerPort: 1, name: 'a' })) })],
  ['volume mounts', `${core}/pods`, withContainer({ volumeMounts: many((i) => ({ name: 'v', mountPath: `/m${i}` })) })],
  ['volumes', `${core}/pods`, pod({ containers: [container], volumes: many((i) => ({ name: `v${i}`, emptyDir: {} })) })],
  [
    'volumes and mounts',
    `${core}/pods`,
    pod({
      containers: [{ ...container, volumeMounts: many((i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }],
      volumes: many((i) => ({ name: `v${i}`, emptyDir: {} })),
    }),
  ],
  [
    'projected items of one path',
    `${core}/pods`,
    withVolume({
      projected: { sources: [{ configMap: { name: 'm', items: many(() => ({ key: 'k', path: 'a' }), 12_000) } }] },
    }),
  ],
  ['a path of slashes', `${core}/pods`, withVolume({ configMap: { name: 'm', items: [{ key: 'k', path: `${'/'.repeat(200_000)}a` }] } })],
  ['tolerations', `${core}/pods`, pod({ containers: [container], tolerations: many((i) => ({ key: `k${i}`, operator: 'Exists' })) })],
  ['image pull secrets', `${core}/pods`, pod({ containers: [container], imagePullSecrets: many((i) => ({ name: `s${i}` })) })],
  ['host aliases', `${core}/pods`, pod({ containers: [container], hostAliases: many((i) => ({ ip: '192.0.2.1', hostnames: [`h${i}`] })) })],
  ['readiness gates', `${core}/pods`, pod({ containers: [container], readinessGates: many((i) => ({ conditionType: `a/b${i}` })) })],
  ['scheduling gates', `${core}/pods`, pod({ containers: [container], schedulingGates: many((i) => ({ name: `a/b${i}` })) })],
  [
    'spread constraints',
    `${core}/pods`,
    pod({
      containers: [container],
      topologySpreadConstraints: many((i) => ({ maxSkew: 1, topologyKey: `k${i}`, whenUnsatisfiable: 'DoNotSchedule' })),
    }),
  ],
  [
    'affinity terms',
    `${core}/pods`,
    pod({
      containers: [container],
      affinity: {
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: many(() => term) },
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: many(() => selector) },
      },
    }),
  ],
  [
    'ephemeral names of services',
    `${core}/services`,
    {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name: 's' },
      spec: { ports: many((i) => ({ name: `p${i}`, port: i + 1 })), selector: { a: 'b' } },
    },
  ],
  [
    'external addresses',
    `${core}/services`,
    {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name: 's' },
      spec: { ports: [{ port: 1 }], externalIPs: many((i) => `10.0.${i >> 8}.${i & 255}`) },
    },
  ],
  [
    'endpoint addresses',
    `${core}/endpoints`,
    {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { name: 'e' },
      subsets: [{ addresses: many((i) => ({ ip: `10.0.${i >> 8}.${i & 255}` })), ports: [{ port: 1 }] }],
    },
  ],
  [
    'endpoint subsets',
    `${core}/endpoints`,
    {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { name: 'e' },
      subsets: many((i) => ({ addresses: [{ ip: `10.0.${i >> 8}.${i & 255}` }], ports: [{ port: 1 }] })),
    },
  ],
  [
    'owner references',
    `${core}/configmaps`,
    configMap({ ownerReferences: many((i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` })) }),
  ],
  ['finalizers', `${core}/configmaps`, configMap({ finalizers: many((i) => `example.com/f${i}`) })],
  ['labels', `${core}/configmaps`, configMap({ labels: Object.fromEntries(many((i) => [`k${i}`, 'v'])) })],
  [
    'managed fields',
    `${core}/configmaps`,
    configMap({
      managedFields: many((i) => ({
        manager: `m${i}`,
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        time: '2026-01-01T00:00:00Z',
        fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
      })),
    }),
  ],
  ['keys', `${core}/configmaps`, { ...configMap({}), data: Object.fromEntries(many((i) => [`k${i}`, 'v'], 50_000)) }],
  ['rules', rbac, role(many((i) => ({ apiGroups: [''], resources: [`r${i}`], verbs: ['get'] })))],
  [
    'a product of rules',
    rbac,
    role([{ apiGroups: many((i) => `g${i}`, 300), resources: many((i) => `r${i}`, 300), verbs: many((i) => `v${i}`, 300) }]),
  ],
  [
    'subjects',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
    {
      kind: 'RoleBinding',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: many((i) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: `u${i}` })),
    },
  ],
  [
    'rules of an ingress',
    '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    {
      kind: 'Ingress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: 'i' },
      spec: {
        rules: many((i) => ({
          host: `h${i}.example.com`,
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 1 } } } }] },
        })),
      },
    },
  ],
  [
    'peers of a network policy',
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    {
      kind: 'NetworkPolicy',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: 'n' },
      spec: { podSelector: {}, ingress: many((i) => ({ from: [{ ipBlock: { cidr: `10.0.${i & 255}.0/24` } }] })) },
    },
  ],
  [
    'endpoints of a slice',
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    {
      kind: 'EndpointSlice',
      apiVersion: 'discovery.k8s.io/v1',
      metadata: { name: 'e' },
      addressType: 'IPv4',
      endpoints: many((i) => ({ addresses: [`10.0.${i >> 8}.${i & 255}`] })),
      ports: many((i) => ({ name: `p${i}`, port: 1 })),
    },
  ],
  [
    'limits',
    `${core}/limitranges`,
    {
      kind: 'LimitRange',
      apiVersion: 'v1',
      metadata: { name: 'l' },
      spec: { limits: many((i) => ({ type: `T${i}`, max: { cpu: '1' } })) },
    },
  ],
  [
    'scopes of a quota',
    `${core}/resourcequotas`,
    { kind: 'ResourceQuota', apiVersion: 'v1', metadata: { name: 'q' }, spec: { scopes: many(() => 'BestEffort') } },
  ],
  ['a quantity of zeros', `${core}/pods`, withContainer({ resources: { limits: { cpu: `1${'0'.repeat(90_000)}` } } })],
  ['an image of slashes', `${core}/pods`, withContainer({ image: `${'a/'.repeat(100_000)}:` })],
  [
    'webhooks',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    {
      kind: 'ValidatingWebhookConfiguration',
      apiVersion: 'admissionregistration.k8s.io/v1',
      metadata: { name: 'w' },
      webhooks: many((i) => ({
        name: `w${i}.example.com`,
        clientConfig: { url: 'https://example.com' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      })),
    },
  ],
  [
    'columns of a definition',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing', shortNames: many((i) => `t${i}`) },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
            additionalPrinterColumns: many((i) => ({ name: `c${i}`, type: 'string', jsonPath: '.spec' })),
          },
        ],
      },
    },
  ],
  [
    'versions of a definition',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: many(
          (i) => ({ name: `v${i + 1}`, served: true, storage: i === 0, schema: { openAPIV3Schema: { type: 'object' } } }),
          3000,
        ),
      },
    },
  ],
  [
    'usages of a certificate',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    {
      kind: 'CertificateSigningRequest',
      apiVersion: 'certificates.k8s.io/v1',
      metadata: { name: 'c' },
      spec: {
        request: Buffer.from('-----BEGIN x\n'.repeat(50_000)).toString('base64'),
        signerName: 'example.com/s',
        usages: many((i) => `u${i}`),
      },
    },
  ],
  [
    'a review of managed fields',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {
        managedFields: many((i) => ({
          manager: `m${i}`,
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { [`f:k${i}`]: {} },
        })),
      },
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    },
  ],
];

test.each(CASES)('%s in great number are answered in short turns', async (_, path, object) => {
  const body = JSON.stringify(object);
  const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, () =>
    hostile.send(`${path}?dryRun=All`, { method: 'POST', token: ADMIN_TOKEN, body }),
  );
  expect(answer.code).toBeLessThan(500);
  expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
});
