import type { JsonObject } from '#machinery';

const LABELS = { app: 'a' };
const POD_SPEC = { containers: [{ name: 'c', image: 'busybox' }] };
const TEMPLATE = { metadata: { labels: LABELS }, spec: POD_SPEC };
const WORKLOAD = { selector: { matchLabels: LABELS }, template: TEMPLATE };
const RULE = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };

/** Valid specs by resource: the effect of a bad value only shows if the rest is valid. */
const BASES: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['pods', { spec: POD_SPEC }],
  ['podtemplates', { template: TEMPLATE }],
  ['replicationcontrollers', { spec: { selector: LABELS, template: TEMPLATE } }],
  ['replicasets', { spec: WORKLOAD }],
  ['deployments', { spec: WORKLOAD }],
  ['daemonsets', { spec: WORKLOAD }],
  ['statefulsets', { spec: { ...WORKLOAD, serviceName: 's' } }],
  ['jobs', { spec: { template: { spec: { ...POD_SPEC, restartPolicy: 'Never' } } } }],
  ['cronjobs', { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { ...POD_SPEC, restartPolicy: 'Never' } } } } } }],
  ['services', { spec: { ports: [{ port: 80 }] } }],
  ['configmaps', { data: { a: 'b' } }],
  ['secrets', { data: { a: 'YQ==' } }],
  ['roles', { rules: [RULE] }],
  ['clusterroles', { rules: [RULE] }],
  ['rolebindings', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [] }],
  ['clusterrolebindings', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' }, subjects: [] }],
  ['limitranges', { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }],
  ['resourcequotas', { spec: { hard: { pods: '1' } } }],
  ['persistentvolumeclaims', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
  ['persistentvolumes', { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' } } }],
  ['ingresses', { spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } } }],
  ['networkpolicies', { spec: { podSelector: {} } }],
  ['poddisruptionbudgets', { spec: { minAvailable: 1, selector: { matchLabels: LABELS } } }],
  ['horizontalpodautoscalers', { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } } }],
  ['priorityclasses', { value: 1 }],
  ['storageclasses', { provisioner: 'a' }],
  ['runtimeclasses', { handler: 'a' }],
  ['leases', { spec: { holderIdentity: 'a' } }],
  [
    'customresourcedefinitions',
    {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
  ],
  ['certificatesigningrequests', { spec: { request: 'YQ==', signerName: 'a.example.com/b', usages: ['client auth'] } }],
  ['selfsubjectaccessreviews', { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }],
  ['subjectaccessreviews', { spec: { user: 'a', resourceAttributes: { verb: 'get', resource: 'pods' } } }],
]);

export interface BaseKind {
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
}

export function baseObject({ resource, apiVersion, kind }: BaseKind): JsonObject {
  return { apiVersion, kind, metadata: { name: 'hostile' }, ...BASES.get(resource) };
}
