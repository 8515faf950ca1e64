import { apps, batch, core, discovery, policy } from '#api';
import type { Client } from '#client';
import { findCondition, selectorFromObject } from '#machinery';
import { hasEnded, isActive, isCharged, isReady, ownerOf } from './invariants.ts';
import { NODES, type ShakyCluster, STORMY_NODES } from './shaky-cluster.ts';

/** All objects, read at once. */
interface Snapshot {
  readonly now: number;
  readonly nodes: readonly core.Node[];
  readonly pods: readonly core.Pod[];
  readonly deployments: readonly apps.Deployment[];
  readonly sets: readonly apps.ReplicaSet[];
  readonly statefulSets: readonly apps.StatefulSet[];
  readonly daemonSets: readonly apps.DaemonSet[];
  readonly jobs: readonly batch.Job[];
  readonly budgets: readonly policy.PodDisruptionBudget[];
  readonly services: readonly core.Service[];
  readonly endpoints: readonly core.Endpoints[];
  readonly slices: readonly discovery.EndpointSlice[];
  readonly quotas: readonly core.ResourceQuota[];
}

async function snapshot(client: Client, now: number): Promise<Snapshot> {
  return {
    now,
    nodes: (await client.of(core.Node).list()).items,
    pods: (await client.of(core.Pod).list()).items,
    deployments: (await client.of(apps.Deployment).list()).items,
    sets: (await client.of(apps.ReplicaSet).list()).items,
    statefulSets: (await client.of(apps.StatefulSet).list()).items,
    daemonSets: (await client.of(apps.DaemonSet).list()).items,
    jobs: (await client.of(batch.Job).list()).items,
    budgets: (await client.of(policy.PodDisruptionBudget).list()).items,
    services: (await client.of(core.Service).list()).items,
    endpoints: (await client.of(core.Endpoints).list()).items,
    slices: (await client.of(discovery.EndpointSlice).list()).items,
    quotas: (await client.of(core.ResourceQuota).list()).items,
  };
}

/** Everything that differs from the desired state, or is misreported in a status. Empty once the cluster has converged. */
export async function unsettled(cluster: ShakyCluster): Promise<readonly string[]> {
  const state = await snapshot(cluster.client, cluster.clock.now());
  return [
    ...nodeFaults(state),
    ...podFaults(state),
    ...deploymentFaults(state),
    ...replicaSetFaults(state),
    ...otherWorkloadFaults(state),
    ...jobFaults(state),
    ...budgetFaults(state),
    ...serviceFaults(state),
    ...quotaFaults(state),
    ...(await runtimeFaults(cluster, state)),
  ];
}

/** Describes the difference, if there is one. */
function differ(label: string, actual: object | undefined, expected: object): readonly string[] {
  const names = Object.keys(expected);
  const text = (object: object | undefined) =>
    JSON.stringify(names.map((name) => (object as Record<string, unknown> | undefined)?.[name] ?? 0));
  return text(actual) === text(expected) ? [] : [`${label} tells ${text(actual)} for ${names.join(', ')}, and it is ${text(expected)}`];
}

function nodeFaults({ nodes }: Snapshot): readonly string[] {
  return nodes.flatMap(({ metadata, spec, status }) => [
    ...(findCondition(status?.conditions, 'Ready')?.status === 'True' ? [] : [`node ${metadata.name} is not ready`]),
    ...(spec?.taints?.length ? [`node ${metadata.name} has taints ${spec.taints.map(({ key, effect }) => `${key}:${effect}`)}`] : []),
  ]);
}

function podFaults({ pods, ...owners }: Snapshot): readonly string[] {
  const uids = new Set([owners.sets, owners.statefulSets, owners.daemonSets, owners.jobs].flat().map(({ metadata }) => metadata.uid));
  return pods.flatMap((pod) => {
    const name = `pod ${pod.metadata.namespace}/${pod.metadata.name}`;
    if (pod.metadata.deletionTimestamp) return [`${name} is still going`];
    if (!uids.has(ownerOf(pod)?.uid)) return [`${name} belongs to nobody`];
    return hasEnded(pod) || isReady(pod) ? [] : [`${name} is ${pod.status?.phase} and not ready`];
  });
}

function podsOf({ pods }: Snapshot, { metadata }: { readonly metadata: core.Pod['metadata'] }): readonly core.Pod[] {
  return pods.filter((pod) => ownerOf(pod)?.uid === metadata.uid && isActive(pod));
}

function deploymentFaults(state: Snapshot): readonly string[] {
  return state.deployments.flatMap((deployment) => {
    const { metadata, spec, status } = deployment;
    const name = `deployment ${metadata.name}`;
    const replicas = spec?.replicas ?? 1;
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas, unavailableReplicas: 0 };
    const sets = state.sets.filter((set) => ownerOf(set)?.uid === metadata.uid);
    const images = new Set(sets.flatMap((set) => podsOf(state, set)).map((pod) => pod.spec?.containers[0]?.image));
    const expectedImage = spec?.template.spec?.containers[0]?.image;
    const progress = findCondition(status?.conditions, 'Progressing');
    return [
      ...differ(name, status, { observedGeneration: metadata.generation, terminatingReplicas: 0, ...counts }),
      ...([...images].every((image) => image === expectedImage) ? [] : [`${name} runs ${[...images]}, and ${expectedImage} was asked for`]),
      ...(progress?.reason === 'NewReplicaSetAvailable' ? [] : [`${name} is ${progress?.reason}`]),
      ...(findCondition(status?.conditions, 'Available')?.status === 'True' ? [] : [`${name} is not Available`]),
    ];
  });
}

function replicaSetFaults(state: Snapshot): readonly string[] {
  return state.sets.flatMap((set) => {
    const pods = podsOf(state, set);
    const { length: replicas } = pods;
    const counts = {
      replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      fullyLabeledReplicas: replicas,
      terminatingReplicas: 0,
    };
    const name = `replica set ${set.metadata.name}`;
    return [
      ...differ(name, set.status, { observedGeneration: set.metadata.generation, ...counts }),
      ...differ(name, set.spec, { replicas }),
      ...(findCondition(set.status?.conditions, 'ReplicaFailure') === undefined ? [] : [`${name} has failed`]),
    ];
  });
}

function otherWorkloadFaults(state: Snapshot): readonly string[] {
  const stateful = state.statefulSets.flatMap((set) => {
    const replicas = set.spec?.replicas ?? 1;
    const names = podsOf(state, set).map(({ metadata }) => metadata.name);
    const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, currentReplicas: replicas, updatedReplicas: replicas };
    const expected = Array.from({ length: replicas }, (_, i) => `${set.metadata.name}-${i}`);
    const { currentRevision, updateRevision } = set.status ?? {};
    return [
      ...differ(`stateful set ${set.metadata.name}`, set.status, { observedGeneration: set.metadata.generation, ...counts }),
      ...differ(`stateful set ${set.metadata.name}`, { names: names.toSorted() }, { names: expected }),
      ...differ(`stateful set ${set.metadata.name}`, { currentRevision }, { currentRevision: updateRevision }),
    ];
  });
  const daemons = state.daemonSets.flatMap((set) => {
    const nodes = podsOf(state, set).map(({ spec }) => spec?.nodeName);
    const count = STORMY_NODES.length;
    const counts = { desiredNumberScheduled: count, currentNumberScheduled: count, numberReady: count, numberAvailable: count };
    return [
      ...differ(`daemon set ${set.metadata.name}`, set.status, { ...counts, updatedNumberScheduled: count, numberMisscheduled: 0 }),
      ...differ(`daemon set ${set.metadata.name}`, { nodes: nodes.toSorted() }, { nodes: STORMY_NODES }),
    ];
  });
  return [...stateful, ...daemons];
}

function jobFaults({ jobs, pods }: Snapshot): readonly string[] {
  return jobs.flatMap(({ metadata, spec, status }) => {
    const finalizedPods = pods.filter((pod) => ownerOf(pod)?.uid === metadata.uid && pod.metadata.finalizers?.length);
    const isComplete = findCondition(status?.conditions, 'Complete')?.status === 'True';
    return [
      ...(isComplete ? [] : [`job ${metadata.name} is not complete: ${JSON.stringify(status)}`]),
      ...differ(`job ${metadata.name}`, status, { succeeded: spec?.completions, active: 0, ready: 0 }),
      ...finalizedPods.map((pod) => `pod ${pod.metadata.name} of a job is held by ${pod.metadata.finalizers}`),
    ];
  });
}

function budgetFaults({ budgets, pods, deployments }: Snapshot): readonly string[] {
  return budgets.flatMap(({ metadata, spec, status }) => {
    const selector = selectorFromObject(spec?.selector);
    const matching = pods.filter((pod) => isActive(pod) && selector.matches(pod.metadata.labels ?? {}));
    const total = deployments.find((deployment) => deployment.metadata.name === metadata.name)?.spec?.replicas ?? 0;
    const allowed = spec?.maxUnavailable === undefined ? Number(spec?.minAvailable) : total - Math.ceil(total / 2);
    const currentHealthy = matching.filter(isReady).length;
    const desiredHealthy = Math.max(0, allowed);
    const disruptionsAllowed = Math.max(0, currentHealthy - desiredHealthy);
    return differ(`budget ${metadata.name}`, status, { currentHealthy, desiredHealthy, expectedPods: total, disruptionsAllowed });
  });
}

function serviceFaults({ services, slices, endpoints, pods }: Snapshot): readonly string[] {
  const selecting = services.filter(({ spec }) => spec?.selector !== undefined);
  return selecting.flatMap(({ metadata, spec }) => {
    const selected = pods.filter((pod) => isActive(pod) && pod.metadata.labels?.app === spec?.selector?.app);
    const expected = {
      addresses: selected
        .filter(isReady)
        .map(({ status }) => status?.podIP)
        .toSorted(),
    };
    const own = slices.filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === metadata.name);
    const inSlices = own.flatMap((slice) =>
      (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready).flatMap(({ addresses }) => addresses),
    );
    const subsets = endpoints.find((each) => each.metadata.name === metadata.name)?.subsets ?? [];
    const inEndpoints = subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
    return [
      ...differ(`slices of ${metadata.name}`, { addresses: inSlices.toSorted() }, expected),
      ...differ(`endpoints of ${metadata.name}`, { addresses: inEndpoints.toSorted() }, expected),
    ];
  });
}

function quotaFaults({ quotas, pods, now }: Snapshot): readonly string[] {
  return quotas.flatMap(({ metadata, status }) => {
    const counted = pods.filter((pod) => pod.metadata.namespace === metadata.namespace && isCharged(pod, now)).length;
    const cpu = counted % 10 === 0 ? String(counted / 10) : `${counted * 100}m`;
    return differ(`quota ${metadata.name}`, status?.used, { pods: String(counted), 'requests.cpu': cpu });
  });
}

/** Containers run for exactly the pods that should run, on their nodes. */
async function runtimeFaults({ runtimes }: ShakyCluster, { pods }: Snapshot): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const node of NODES) {
    const running = (await runtimes.get(node)!.listContainers())
      .filter(({ state }) => state === 'running')
      .map(({ labels }) => labels['io.kubernetes.pod.uid']);
    const expected = pods.filter((pod) => pod.spec?.nodeName === node && !hasEnded(pod)).map(({ metadata }) => metadata.uid);
    faults.push(...differ(`node ${node}`, { running: running.toSorted() }, { running: expected.toSorted() }));
  }
  return faults;
}
