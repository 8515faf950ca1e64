import { flowcontrol } from '#api';

type NamedObject = { readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> } };
export type DefaultFlowSchema = NamedObject & { readonly spec: flowcontrol.FlowSchemaSpec };
export type DefaultPriorityLevel = NamedObject & { readonly spec: flowcontrol.PriorityLevelConfigurationSpec };

/** The server restores the specs of annotated objects. Users who set the annotation to false own the spec. */
const ANNOTATIONS = { 'apf.kubernetes.io/autoupdate-spec': 'true' };

interface QueueNumbers {
  readonly shares: number;
  readonly lendable: number;
  readonly queues: number;
  readonly handSize: number;
}

function queueing(name: string, { shares, lendable, queues, handSize }: QueueNumbers): DefaultPriorityLevel {
  const limitResponse = { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } };
  const limited = { nominalConcurrencyShares: shares, limitResponse, lendablePercent: lendable };
  return { metadata: { name, annotations: ANNOTATIONS }, spec: { type: 'Limited', limited } };
}

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const LEASES = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] };
const EVERYONE = ['system:unauthenticated', 'system:authenticated'].map(group);
const SYSTEM_ACCOUNTS = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } };

function group(name: string): flowcontrol.Subject {
  return { kind: 'Group', group: { name } };
}

function user(name: string): flowcontrol.Subject {
  return { kind: 'User', user: { name } };
}

interface SchemaParts {
  readonly level: string;
  readonly precedence: number;
  /** How requests are assigned to flows within the level; a single flow if absent. */
  readonly by?: 'ByUser' | 'ByNamespace';
  readonly rule: flowcontrol.PolicyRulesWithSubjects;
}

function schema(name: string, { level, precedence, by, rule }: SchemaParts): DefaultFlowSchema {
  return {
    metadata: { name, annotations: ANNOTATIONS },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      ...(by && { distinguisherMethod: { type: by } }),
      rules: [rule],
    },
  };
}

/** Default priority levels. Mandatory ones are always restored. */
export const DEFAULT_PRIORITY_LEVELS: readonly DefaultPriorityLevel[] = [
  ...[...flowcontrol.MANDATORY_PRIORITY_LEVELS].map(([name, spec]) => ({ metadata: { name, annotations: ANNOTATIONS }, spec })),
  queueing('system', { shares: 30, lendable: 33, queues: 64, handSize: 6 }),
  queueing('node-high', { shares: 40, lendable: 25, queues: 64, handSize: 6 }),
  queueing('leader-election', { shares: 10, lendable: 0, queues: 16, handSize: 4 }),
  queueing('workload-high', { shares: 40, lendable: 50, queues: 128, handSize: 6 }),
  queueing('workload-low', { shares: 100, lendable: 90, queues: 128, handSize: 6 }),
  queueing('global-default', { shares: 20, lendable: 50, queues: 128, handSize: 6 }),
];

export const DEFAULT_FLOW_SCHEMAS: readonly DefaultFlowSchema[] = [
  ...[...flowcontrol.MANDATORY_FLOW_SCHEMAS].map(([name, spec]) => ({ metadata: { name, annotations: ANNOTATIONS }, spec })),
  schema('probes', {
    level: 'exempt',
    precedence: 2,
    rule: { subjects: EVERYONE, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] },
  }),
  schema('system-leader-election', {
    level: 'leader-election',
    precedence: 100,
    by: 'ByUser',
    rule: {
      subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler'), SYSTEM_ACCOUNTS],
      resourceRules: [{ verbs: ['get', 'create', 'update'], ...LEASES }],
    },
  }),
  schema('system-node-high', {
    level: 'node-high',
    precedence: 400,
    by: 'ByUser',
    rule: {
      subjects: [group('system:nodes')],
      resourceRules: [
        { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ['*'] },
        { verbs: ['*'], ...LEASES },
      ],
    },
  }),
  schema('system-nodes', { level: 'system', precedence: 500, by: 'ByUser', rule: { subjects: [group('system:nodes')], ...EVERYTHING } }),
  ...['kube-controller-manager', 'kube-scheduler'].map((name) =>
    schema(name, {
      level: 'workload-high',
      precedence: 800,
      by: 'ByNamespace',
      rule: { subjects: [user(`system:${name}`)], ...EVERYTHING },
    }),
  ),
  schema('kube-system-service-accounts', {
    level: 'workload-high',
    precedence: 900,
    by: 'ByNamespace',
    rule: { subjects: [SYSTEM_ACCOUNTS], ...EVERYTHING },
  }),
  schema('service-accounts', {
    level: 'workload-low',
    precedence: 9000,
    by: 'ByUser',
    rule: { subjects: [group('system:serviceaccounts')], ...EVERYTHING },
  }),
  schema('global-default', { level: 'global-default', precedence: 9900, by: 'ByUser', rule: { subjects: EVERYONE, ...EVERYTHING } }),
];
