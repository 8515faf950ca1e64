import { describe, expect, test } from 'vitest';
import type { core } from '#api';
import { type ClusterState, node, outcome, place, pod } from '../placement.test-data.ts';

const HELPLESS = (nodes: number) =>
  `no new claims to deallocate, preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`;
const NO_VICTIMS = 'no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const inZone = (zone: string) => ({ labels: { [ZONE]: zone } });
const web = { matchLabels: { app: 'web' } };
const required = (term: Partial<core.PodAffinityTerm> = {}) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST, labelSelector: web, ...term }],
});
const preferred = (weight = 10) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: { topologyKey: HOST, labelSelector: web } }],
});
const affinity = (terms: readonly core.NodeSelectorTerm[]): Partial<core.PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [...terms] } } },
});
const expressions = (key: string, operator: string, ...values: string[]) => [{ matchExpressions: [{ key, operator, values }] }];
const port = (hostPort: number, overrides: object = {}): Partial<core.PodSpec> => ({
  containers: [{ name: 'main', image: 'img', ports: [{ containerPort: 80, hostPort, protocol: 'TCP', ...overrides }] }] as core.Container[],
});

const restartsAll = pod('p', {
  spec: {
    containers: [
      {
        name: 'main',
        image: 'img',
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
      },
    ] as core.Container[],
  },
});
const withFeatures = (nodeObject: core.Node, ...declaredFeatures: string[]) =>
  ({ ...nodeObject, status: { ...nodeObject.status, declaredFeatures } }) as core.Node;

function resized({ requested, used, isInfeasible = false }: { requested: string; used: string; isInfeasible?: boolean }): core.Pod {
  const sized = { name: 'main', resources: { requests: { cpu: used } }, allocatedResources: { cpu: used } };
  const conditions = isInfeasible ? [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] : [];
  return pod('x', {
    on: 'n',
    requests: { cpu: requested },
    status: { containerStatuses: [sized], conditions } as unknown as core.PodStatus,
  });
}

interface Case {
  readonly name: string;
  readonly pod: core.Pod;
  readonly state: ClusterState;
  readonly expected: string;
}

// One file: one table of cases, by plugin.
const plugins: Readonly<Record<string, readonly Case[]>> = {
  NodeUnschedulable: [
    {
      name: 'a cordoned node takes no pods',
      pod: pod('p'),
      state: { nodes: [node('n', { unschedulable: true })] },
      expected: `0/1 nodes are available: 1 node(s) were unschedulable. ${HELPLESS(1)}`,
    },
    {
      name: 'a cordoned node takes pods that tolerate it',
      pod: pod('p', { spec: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] } }),
      state: { nodes: [node('n', { unschedulable: true })] },
      expected: 'n',
    },
  ],
  TaintToleration: [
    {
      name: 'a taint keeps pods away',
      pod: pod('p'),
      state: { nodes: [node('n', { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] })] },
      expected: `0/1 nodes are available: 1 node(s) had untolerated taint(s). ${HELPLESS(1)}`,
    },
    {
      name: 'an equal toleration needs the same value',
      pod: pod('p', { spec: { tolerations: [{ key: 'k', value: 'other' }] } }),
      state: { nodes: [node('n', { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] })] },
      expected: `0/1 nodes are available: 1 node(s) had untolerated taint(s). ${HELPLESS(1)}`,
    },
    {
      name: 'a toleration without key and with Exists covers all',
      pod: pod('p', { spec: { tolerations: [{ operator: 'Exists' }] } }),
      state: { nodes: [node('n', { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] })] },
      expected: 'n',
    },
    {
      name: 'nodes that prefer to be left alone come last',
      pod: pod('p'),
      state: { nodes: [node('a', { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] }), node('b')] },
      expected: 'b',
    },
  ],
  NodeAffinity: [
    {
      name: 'In',
      pod: pod('p', { spec: affinity(expressions(ZONE, 'In', 'z2')) }),
      state: { nodes: [node('a', inZone('z1')), node('b', inZone('z2'))] },
      expected: 'b',
    },
    {
      name: 'NotIn',
      pod: pod('p', { spec: affinity(expressions(ZONE, 'NotIn', 'z2')) }),
      state: { nodes: [node('a', inZone('z1')), node('b', inZone('z2'))] },
      expected: 'a',
    },
    {
      name: 'DoesNotExist',
      pod: pod('p', { spec: affinity(expressions(ZONE, 'DoesNotExist')) }),
      state: { nodes: [node('a', inZone('z1')), node('b')] },
      expected: 'b',
    },
    {
      name: 'Gt compares integers',
      pod: pod('p', { spec: affinity(expressions('size', 'Gt', '9')) }),
      state: { nodes: [node('a', { labels: { size: '8' } }), node('b', { labels: { size: '10' } })] },
      expected: 'b',
    },
    {
      name: 'a node selector',
      pod: pod('p', { spec: { nodeSelector: { [ZONE]: 'z3' } } }),
      state: { nodes: [node('a', inZone('z1'))] },
      expected: `0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. ${HELPLESS(1)}`,
    },
    {
      name: 'a field names the node, and no other is looked at',
      pod: pod('p', { spec: affinity([{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }]) }),
      state: { nodes: [node('a'), node('b'), node('c')] },
      expected: 'b',
    },
    {
      name: 'an empty term matches nothing',
      pod: pod('p', { spec: affinity([{}]) }),
      state: { nodes: [node('a')] },
      expected: `0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. ${HELPLESS(1)}`,
    },
  ],
  NodePorts: [
    {
      name: 'a taken port',
      pod: pod('p', { spec: port(80) }),
      state: { nodes: [node('n')], pods: [pod('x', { spec: port(80), on: 'n' })] },
      expected: `0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. ${NO_VICTIMS}`,
    },
    {
      name: 'another protocol',
      pod: pod('p', { spec: port(80, { protocol: 'UDP' }) }),
      state: { nodes: [node('n')], pods: [pod('x', { spec: port(80), on: 'n' })] },
      expected: 'n',
    },
    {
      name: 'another address',
      pod: pod('p', { spec: port(80, { hostIP: '10.0.0.1' }) }),
      state: { nodes: [node('n')], pods: [pod('x', { spec: port(80, { hostIP: '10.0.0.2' }), on: 'n' })] },
      expected: 'n',
    },
    {
      name: 'all addresses clash with one',
      pod: pod('p', { spec: port(80) }),
      state: { nodes: [node('n')], pods: [pod('x', { spec: port(80, { hostIP: '10.0.0.2' }), on: 'n' })] },
      expected: `0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. ${NO_VICTIMS}`,
    },
  ],
  NodeResourcesFit: [
    { name: 'exactly fits', pod: pod('p', { requests: { cpu: '4', memory: '8Gi' } }), state: { nodes: [node('n')] }, expected: 'n' },
    {
      name: 'more than the node has',
      pod: pod('p', { requests: { cpu: '4001m' } }),
      state: { nodes: [node('n')] },
      expected: `0/1 nodes are available: 1 Insufficient cpu. ${HELPLESS(1)}`,
    },
    {
      name: 'more than is left',
      pod: pod('p', { requests: { cpu: '2', memory: '8Gi' } }),
      state: { nodes: [node('n')], pods: [pod('x', { requests: { cpu: '3', memory: '1Gi' }, on: 'n' })] },
      expected: `0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. ${NO_VICTIMS}`,
    },
    {
      name: 'too many pods',
      pod: pod('p'),
      state: { nodes: [node('n', { allocatable: { pods: '1' } })], pods: [pod('x', { on: 'n' })] },
      expected: `0/1 nodes are available: 1 Too many pods. ${NO_VICTIMS}`,
    },
    {
      name: 'an extended resource',
      pod: pod('p', { requests: { 'example.com/gpu': '1' } }),
      state: { nodes: [node('a'), node('b', { allocatable: { 'example.com/gpu': '1' } })] },
      expected: 'b',
    },
    {
      name: 'an init container counts by itself',
      pod: pod('p', {
        requests: { cpu: '1' },
        spec: { initContainers: [{ name: 'i', image: 'img', resources: { requests: { cpu: '4' } } }] },
      }),
      state: { nodes: [node('n')] },
      expected: 'n',
    },
    {
      name: 'a sidecar counts with the containers',
      pod: pod('p', {
        requests: { cpu: '3' },
        spec: { initContainers: [{ name: 'i', image: 'img', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } }] },
      }),
      state: { nodes: [node('n')] },
      expected: `0/1 nodes are available: 1 Insufficient cpu. ${HELPLESS(1)}`,
    },
    {
      name: 'resources of the pod replace those of its containers',
      pod: pod('p', { requests: { cpu: '9' }, spec: { resources: { requests: { cpu: '3' } } } }),
      state: { nodes: [node('n')] },
      expected: 'n',
    },
    {
      name: 'overhead is added',
      pod: pod('p', { requests: { cpu: '3' }, spec: { overhead: { cpu: '2' } } }),
      state: { nodes: [node('n')] },
      expected: `0/1 nodes are available: 1 Insufficient cpu. ${HELPLESS(1)}`,
    },
    {
      name: 'the emptier node is better',
      pod: pod('p', { requests: { cpu: '1' } }),
      state: { nodes: [node('a'), node('b')], pods: [pod('x', { requests: { cpu: '2', memory: '2Gi' }, on: 'a' })] },
      expected: 'b',
    },
    {
      name: 'the fuller node is better, when so configured',
      pod: pod('p', { requests: { cpu: '1' } }),
      state: {
        nodes: [node('a'), node('b')],
        pods: [pod('x', { requests: { cpu: '2', memory: '4Gi' }, on: 'a' })],
        configuration: {
          profiles: [
            {
              pluginConfig: [
                {
                  name: 'NodeResourcesFit',
                  args: {
                    scoringStrategy: {
                      type: 'MostAllocated',
                      resources: [
                        { name: 'cpu', weight: 1 },
                        { name: 'memory', weight: 1 },
                      ],
                    },
                  },
                },
              ],
            },
          ],
        },
      },
      expected: 'a',
    },
  ],
  ImageLocality: [
    {
      name: 'the node that has the image',
      pod: pod('p'),
      state: { nodes: [node('a'), node('b', { images: [{ names: ['img:latest'], sizeBytes: 900_000_000 }] })] },
      expected: 'b',
    },
  ],
  InterPodAffinity: [
    {
      name: 'beside another pod',
      pod: pod('p', { spec: { affinity: { podAffinity: required() } } }),
      state: { nodes: [node('a'), node('b')], pods: [pod('x', { labels: { app: 'web' }, on: 'b' })] },
      expected: 'b',
    },
    {
      name: 'in the zone of another pod',
      pod: pod('p', { spec: { affinity: { podAffinity: required({ topologyKey: ZONE }) } } }),
      state: {
        nodes: [node('a', inZone('z1')), node('b', { ...inZone('z2'), allocatable: { pods: '1' } }), node('c', inZone('z2'))],
        pods: [pod('x', { labels: { app: 'web' }, on: 'b' })],
      },
      expected: 'c',
    },
    {
      name: 'nobody to be with',
      pod: pod('p', { spec: { affinity: { podAffinity: required() } } }),
      state: { nodes: [node('n')] },
      expected: `0/1 nodes are available: 1 node(s) didn't match pod affinity rules. ${HELPLESS(1)}`,
    },
    {
      name: 'the first of a group',
      pod: pod('p', { labels: { app: 'web' }, spec: { affinity: { podAffinity: required() } } }),
      state: { nodes: [node('n')] },
      expected: 'n',
    },
    {
      name: 'other namespaces do not count',
      pod: pod('p', { spec: { affinity: { podAffinity: required() } } }),
      state: { nodes: [node('n')], pods: [pod('x', { namespace: 'other', labels: { app: 'web' }, on: 'n' })] },
      expected: `0/1 nodes are available: 1 node(s) didn't match pod affinity rules. ${HELPLESS(1)}`,
    },
    {
      name: 'namespaces by their labels',
      pod: pod('p', { spec: { affinity: { podAffinity: required({ namespaceSelector: { matchLabels: { team: 'x' } } }) } } }),
      state: {
        nodes: [node('n')],
        namespaces: { other: { team: 'x' } },
        pods: [pod('x', { namespace: 'other', labels: { app: 'web' }, on: 'n' })],
      },
      expected: 'n',
    },
    {
      name: 'apart from another pod',
      pod: pod('p', { spec: { affinity: { podAntiAffinity: required() } } }),
      state: { nodes: [node('a'), node('b')], pods: [pod('x', { labels: { app: 'web' }, on: 'b' })] },
      expected: 'a',
    },
    {
      name: 'pods already there keep it away',
      pod: pod('p', { labels: { app: 'web' } }),
      state: { nodes: [node('n')], pods: [pod('x', { spec: { affinity: { podAntiAffinity: required() } }, on: 'n' })] },
      expected: `0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules. ${NO_VICTIMS}`,
    },
    {
      name: 'prefers to be beside',
      pod: pod('p', { spec: { affinity: { podAffinity: preferred() } } }),
      state: { nodes: [node('a'), node('b')], pods: [pod('x', { labels: { app: 'web' }, on: 'b' })] },
      expected: 'b',
    },
    {
      name: 'pods already there prefer to be apart',
      pod: pod('p', { labels: { app: 'web' } }),
      state: { nodes: [node('a'), node('b')], pods: [pod('x', { spec: { affinity: { podAntiAffinity: preferred(100) } }, on: 'b' })] },
      expected: 'a',
    },
  ],
  PodTopologySpread: [
    ...[
      { name: 'into the emptier zone', on: ['a', 'a'], maxSkew: 1, expected: 'b' },
      { name: 'within the skew the other scores decide', on: ['b'], maxSkew: 2, expected: 'a' },
    ].map(({ name, on, maxSkew, expected }) => ({
      name,
      pod: pod('p', {
        labels: { app: 'web' },
        spec: { topologySpreadConstraints: [{ maxSkew, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web }] },
      }),
      state: {
        nodes: [node('a', inZone('z1')), node('b', inZone('z2'))],
        pods: on.map((where, i) => pod(`x${i}`, { labels: { app: 'web' }, requests: { cpu: '1' }, on: where })),
      },
      expected,
    })),
    {
      name: 'terminating pods do not count',
      pod: pod('p', {
        labels: { app: 'web' },
        spec: {
          topologySpreadConstraints: [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web }],
          nodeSelector: { [ZONE]: 'z1' },
        },
      }),
      state: {
        nodes: [node('a', inZone('z1'))],
        pods: [pod('x', { labels: { app: 'web' }, on: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' })],
      },
      expected: 'a',
    },
    {
      name: 'too few domains',
      pod: pod('p', {
        labels: { app: 'web' },
        spec: {
          topologySpreadConstraints: [
            { maxSkew: 1, minDomains: 2, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web },
          ],
        },
      }),
      state: { nodes: [node('a', inZone('z1'))], pods: [pod('x', { labels: { app: 'web' }, on: 'a' })] },
      expected: `0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints. ${NO_VICTIMS}`,
    },
    {
      name: 'a node without the key',
      pod: pod('p', {
        spec: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web }] },
      }),
      state: { nodes: [node('a')] },
      expected: `0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label). ${HELPLESS(1)}`,
    },
    {
      name: 'pods of a service spread by default',
      pod: pod('p', { labels: { app: 'web' } }),
      state: {
        nodes: [node('a'), node('b')],
        services: [{ metadata: { name: 's', namespace: 'default' }, spec: { selector: { app: 'web' } } } as unknown as core.Service],
        pods: [pod('x', { labels: { app: 'web' }, on: 'a' }), pod('y', { on: 'b' })],
      },
      expected: 'b',
    },
  ],
  NodeDeclaredFeatures: [
    {
      name: 'what a kubelet must be able to do is declared by its node',
      pod: restartsAll,
      state: { nodes: [node('old'), withFeatures(node('new'), 'RestartAllContainersOnContainerExits')] },
      expected: 'new',
    },
    {
      name: 'a node that does not declare what a pod needs',
      pod: restartsAll,
      state: { nodes: [withFeatures(node('n'), 'Another')] },
      expected: `0/1 nodes are available: 1 node(s) didn't match Pod's required features. ${HELPLESS(1)}`,
    },
  ],
  NodeResourcesFitOfResizedPods: [
    {
      name: 'a pod that is being made larger has its new size already',
      pod: pod('p', { requests: { cpu: '2' } }),
      state: { nodes: [node('n')], pods: [resized({ requested: '3', used: '1' })] },
      expected: `0/1 nodes are available: 1 Insufficient cpu. ${NO_VICTIMS}`,
    },
    {
      name: 'a pod that is being made smaller has its old size still',
      pod: pod('p', { requests: { cpu: '2' } }),
      state: { nodes: [node('n')], pods: [resized({ requested: '1', used: '3' })] },
      expected: `0/1 nodes are available: 1 Insufficient cpu. ${NO_VICTIMS}`,
    },
    {
      name: 'a size that the node can never give does not count',
      pod: pod('p', { requests: { cpu: '2' } }),
      state: { nodes: [node('n')], pods: [resized({ requested: '3', used: '1', isInfeasible: true })] },
      expected: 'n',
    },
  ],
  VolumeRestrictions: [
    {
      name: 'a claim that is not there',
      pod: pod('p', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] } }),
      state: { nodes: [node('n')] },
      expected: '0/1 nodes are available: persistentvolumeclaim "c" not found. not found',
    },
    {
      name: 'a claim of one pod only that another pod uses',
      pod: pod('p', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] } }),
      state: {
        nodes: [node('n')],
        claims: [
          {
            metadata: { name: 'c', namespace: 'default', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
            spec: { accessModes: ['ReadWriteOncePod'], volumeName: 'v' },
          } as unknown as core.PersistentVolumeClaim,
        ],
        volumes: [{ metadata: { name: 'v' }, spec: {} } as core.PersistentVolume],
        pods: [pod('x', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }, on: 'n' })],
      },
      expected: `0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod. ${NO_VICTIMS}`,
    },
  ],
};

for (const [plugin, cases] of Object.entries(plugins)) {
  describe(plugin, () => {
    test.each(cases)('$name', ({ pod: incoming, state, expected }) => {
      expect(outcome(place(incoming, state))).toBe(expected);
    });
  });
}

test('without nodes there is nothing to explain', () => {
  expect(outcome(place(pod('p'), {}))).toBe('no nodes available to schedule pods');
});
