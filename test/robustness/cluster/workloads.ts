import { apps, batch, core, policy } from '#api';
import type { Draft, ResourceClient } from '#client';
import type { ShakyCluster } from './shaky-cluster.ts';

/** Edited continually, but its pods are deleted only by its own controller. */
export const CALM = 'calm';
/** Never edited, but evicted and drained under a budget. */
export const GUARDED = 'guarded';
export const GUARDED_MINIMUM = 3;
/** As `calm`, with the strategy Recreate. */
export const RECREATED = 'recreated';
/** Subject to all faults. */
export const STORMY = 'stormy';
/** In a namespace with a quota. */
export const LIMITED = 'limited';

export const EDITED: readonly { readonly namespace: string; readonly name: string }[] = [
  ...[CALM, RECREATED, STORMY].map((name) => ({ namespace: 'default', name })),
  { namespace: LIMITED, name: LIMITED },
];

type Weather = 'calm' | 'storm';

function podTemplate(app: string, weather: Weather, scripted: Record<string, string> = {}): core.PodTemplateSpec {
  const annotations = Object.fromEntries(Object.entries(scripted).map(([key, value]) => [`sampan.dev/${key}`, value]));
  const resources = { requests: { cpu: '100m', memory: '64Mi' } };
  const containers = [{ name: 'c', image: `${app}:0`, resources }];
  return { metadata: { labels: { app }, annotations }, spec: { nodeSelector: { weather }, containers, terminationGracePeriodSeconds: 5 } };
}

function deployment(name: string, spec: Partial<apps.DeploymentSpec> & { readonly weather: Weather }): Draft<apps.Deployment> {
  const { weather, ...rest } = spec;
  const template = podTemplate(name, weather, { 'start-time': '1s', 'stop-time': '2s' });
  const namespace = name === LIMITED ? LIMITED : 'default';
  return { metadata: { name, namespace }, spec: { selector: { matchLabels: { app: name } }, template, ...rest } };
}

function rolling(maxSurge: number | string, maxUnavailable: number | string): apps.DeploymentStrategy {
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
}

function budget(name: string, spec: policy.PodDisruptionBudgetSpec): Draft<policy.PodDisruptionBudget> {
  return { metadata: { name, namespace: 'default' }, spec: { ...spec, selector: { matchLabels: { app: name } } } };
}

function service(name: string, namespace: string): Draft<core.Service> {
  return { metadata: { name, namespace }, spec: { selector: { app: name }, ports: [{ port: 80 }] } };
}

/** Creates the workloads of the history. */
export async function createWorkloads({ client }: ShakyCluster): Promise<void> {
  await client.of(core.Namespace).create({ metadata: { name: LIMITED } });
  await client
    .of(core.ResourceQuota)
    .create({ metadata: { name: 'few', namespace: LIMITED }, spec: { hard: { pods: '7', 'requests.cpu': '2' } } });
  const deployments = [
    deployment(CALM, { weather: 'calm', replicas: 4, minReadySeconds: 3, strategy: rolling(1, 1) }),
    deployment(RECREATED, { weather: 'calm', replicas: 3, strategy: { type: 'Recreate' } }),
    deployment(GUARDED, { weather: 'calm', replicas: 5 }),
    deployment(STORMY, { weather: 'storm', replicas: 6, strategy: rolling('25%', '25%') }),
    deployment(LIMITED, { weather: 'storm', replicas: 4, strategy: rolling(1, 1) }),
  ];
  for (const each of deployments) await client.of(apps.Deployment).create(each);
  await client.of(policy.PodDisruptionBudget).create(budget(GUARDED, { minAvailable: GUARDED_MINIMUM }));
  await client.of(policy.PodDisruptionBudget).create(budget(STORMY, { maxUnavailable: '50%' }));
  for (const name of [CALM, GUARDED, STORMY, 'db']) await client.of(core.Service).create(service(name, 'default'));
  await createStateful(client.of(apps.StatefulSet));
  await createJobs(client.of(batch.Job));
  const agent = podTemplate('agent', 'storm');
  await client
    .of(apps.DaemonSet)
    .create({ metadata: { name: 'agent', namespace: 'default' }, spec: { selector: { matchLabels: { app: 'agent' } }, template: agent } });
}

async function createStateful(sets: ResourceClient<apps.StatefulSet>) {
  const template = podTemplate('db', 'storm', { 'start-time': '1s', 'stop-time': '2s' });
  const spec = { serviceName: 'db', replicas: 3, selector: { matchLabels: { app: 'db' } }, template };
  await sets.create({ metadata: { name: 'db', namespace: 'default' }, spec });
}

async function createJobs(jobs: ResourceClient<batch.Job>) {
  for (const [name, completionMode] of [
    ['indexed', 'Indexed'],
    ['counted', 'NonIndexed'],
  ] as const) {
    const scripted = podTemplate(name, 'storm', { 'run-time': '45s', 'exit-code': '0' });
    const template = { ...scripted, spec: { ...scripted.spec!, restartPolicy: 'Never' } };
    const spec = { completions: 12, parallelism: 3, completionMode, backoffLimit: 1000, template };
    await jobs.create({ metadata: { name, namespace: 'default' }, spec });
  }
}
