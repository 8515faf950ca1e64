import type { apps, core } from '#api';
import { findCondition, parseTime } from '#machinery';
import { type Change, type ObservedState, RecentValues } from './observed-state.ts';
import type { ShakyCluster } from './shaky-cluster.ts';
import { CALM, GUARDED_MINIMUM, RECREATED } from './workloads.ts';

/** The longest time that a component may lag behind: interrupted watches resume after a minute at most. */
const LAG_MS = 180_000;
/** The longest time for a template to get from a deployment through its replica set to a pod, while others are being created. */
const TEMPLATE_LAG_MS = 15_000;

/** The invariants of every revision of the store. Violations are collected as sentences. */
export class Invariants {
  readonly faults: string[] = [];
  readonly #limits = new Map<string, RecentValues>();
  #isGuarded = false;

  constructor(
    private readonly state: ObservedState,
    private readonly cluster: ShakyCluster,
  ) {
    state.look({
      pods: (change) => this.#pod(change),
      replicasets: (change) => this.#replicaSet(change),
      deployments: ({ after, now }) => after && this.#deployment(after, now),
      jobs: ({ after, now }) => after && this.#recent('most', after).set(after.spec?.parallelism ?? 1, now),
      poddisruptionbudgets: ({ after, ...at }) => {
        if ((after?.status?.disruptionsAllowed ?? 0) < 0) this.#fault(at, 'a budget allows less than nothing');
      },
    });
  }

  /** From now on the budget of the guarded pods counts: all of them have existed. */
  guard(): void {
    this.#isGuarded = true;
  }

  #fault({ revision, now }: Pick<Change, 'revision' | 'now'>, text: string): void {
    this.faults.push(`revision ${revision}, ${new Date(now).toISOString().slice(11, 23)}: ${text}`);
  }

  #recent(what: 'most' | 'least', { metadata }: { readonly metadata: core.Pod['metadata'] }): RecentValues {
    const id = `${what} ${metadata.uid}`;
    const values = this.#limits.get(id) ?? new RecentValues(LAG_MS);
    this.#limits.set(id, values);
    return values;
  }

  // --- deployments ---------------------------------------------------------------------------------------------------

  #deployment(deployment: apps.Deployment, now: number): void {
    const { replicas = 1, strategy } = deployment.spec ?? {};
    const { maxSurge, maxUnavailable } = strategy?.rollingUpdate ?? {};
    this.#recent('most', deployment).set(replicas + share(maxSurge, replicas, Math.ceil), now);
    this.#recent('least', deployment).set(replicas - share(maxUnavailable, replicas, Math.floor), now);
  }

  #replicaSet({ before, after, ...at }: Change<apps.ReplicaSet>): void {
    if (after === undefined) return;
    const [oldSize, newSize] = [before?.spec?.replicas ?? 0, after.spec?.replicas ?? 0];
    this.#recent('most', after).set(newSize, at.now);
    this.#recent('least', after).set(newSize, at.now);
    const owner = this.state.all('deployments').find(({ metadata }) => metadata.uid === ownerOf(after)?.uid);
    if (owner === undefined || oldSize === newSize) return;
    const sets = this.state.all('replicasets').filter((set) => ownerOf(set)?.uid === owner.metadata.uid);
    if (newSize > oldSize) this.#scaledUp(owner, sets, at);
    else if (owner.metadata.name === CALM) this.#scaledDown(owner, { sets, changed: after, oldSize, ...at });
  }

  #scaledUp(owner: apps.Deployment, sets: readonly apps.ReplicaSet[], at: At): void {
    const total = sets.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
    const most = this.#recent('most', owner).highest(at.now);
    if (total > most) this.#fault(at, `${owner.metadata.name} asks for ${total} pods, and maxSurge allows ${most}`);
  }

  /** Unavailable pods are deleted first, so the available ones are limited only by the set's current or next size. */
  #scaledDown(
    owner: apps.Deployment,
    { sets, changed, oldSize, ...at }: At & { sets: readonly apps.ReplicaSet[]; changed: apps.ReplicaSet; oldSize: number },
  ): void {
    const stay = (countOf: (set: apps.ReplicaSet) => number) =>
      sets.reduce(
        (sum, set) => sum + Math.min(countOf(set), this.#activePods(set).filter((pod) => isAvailable(pod, owner, at.now)).length),
        0,
      );
    const left = stay(({ spec }) => spec?.replicas ?? 0);
    const previously = stay((set) => (set.metadata.uid === changed.metadata.uid ? oldSize : (set.spec?.replicas ?? 0)));
    const least = this.#recent('least', owner).lowest(at.now);
    if (left < Math.min(least, previously))
      this.#fault(at, `${owner.metadata.name} leaves ${left} pods available, and maxUnavailable asks for ${least}`);
  }

  // --- pods ----------------------------------------------------------------------------------------------------------

  #pod({ before, after, ...at }: Change<core.Pod>): void {
    if (before === undefined && after !== undefined) this.#created(after, at);
    if (before?.spec?.nodeName && after !== undefined && after.spec?.nodeName !== before.spec.nodeName)
      this.#fault(at, `${at.key} moved from ${before.spec.nodeName} to ${after.spec?.nodeName}`);
    if (this.#isGuarded) this.#guarded(at);
    this.#stopped(before, after, at);
  }

  #created(pod: core.Pod, at: At): void {
    const owner = ownerOf(pod);
    const pods = this.#activePods({ metadata: { uid: owner?.uid ?? '' } });
    switch (owner?.kind) {
      case 'ReplicaSet':
        this.#noneTooMany(pods, owner, at);
        if (pod.metadata.labels?.app === RECREATED) this.#alone(pod, at);
        break;
      case 'Job':
        this.#noneTooMany(pods, owner, at);
        this.#indexOnce(pod, owner.uid, at);
        break;
      case 'StatefulSet':
        this.#runsNowhere(pod, at);
        break;
      case 'DaemonSet':
        this.#onceANode(pod, pods, at);
        break;
      default:
    }
  }

  #noneTooMany(pods: readonly core.Pod[], { uid, kind, name }: Owner, at: At): void {
    const most = this.#limits.get(`most ${uid}`)?.highest(at.now) ?? 0;
    if (pods.length > most) this.#fault(at, `${kind} ${name} has ${pods.length} pods, and asked for ${most}`);
  }

  #indexOnce(pod: core.Pod, uid: string, at: At): void {
    const index = indexOf(pod);
    if (index === undefined) return;
    const same = this.state.all('pods').filter((each) => ownerOf(each)?.uid === uid && indexOf(each) === index);
    // A deleted pod is replaced at once, and may still succeed.
    const counts = (each: core.Pod) => !each.metadata.deletionTimestamp && each.status?.phase !== 'Failed';
    const others = same.filter((each) => each.metadata.uid !== pod.metadata.uid && counts(each));
    if (others.length > 0) this.#fault(at, `index ${index} is worked on twice: ${pod.metadata.name}, ${others[0]?.metadata.name}`);
  }

  #onceANode(pod: core.Pod, pods: readonly core.Pod[], at: At): void {
    const node = targetOf(pod);
    const others = pods.filter((each) => each.metadata.uid !== pod.metadata.uid && targetOf(each) === node);
    if (others.length > 0) this.#fault(at, `${pod.metadata.name} is made for ${node}, where ${others[0]?.metadata.name} is`);
  }

  /** A StatefulSet pod is created again only when the previous one has terminated, on any node. */
  #runsNowhere(pod: core.Pod, at: At): void {
    for (const [node, runtime] of this.cluster.runtimes) {
      void runtime.listContainers().then((containers) => {
        const isRunning = containers.some(
          ({ state, labels }) => state === 'running' && this.#nameOf(labels['io.kubernetes.pod.uid'] ?? '') === pod.metadata.name,
        );
        if (isRunning) this.#fault(at, `${pod.metadata.name} is made again while it runs on ${node}`);
      });
    }
  }

  readonly #names = new Map<string, string>();

  #nameOf(uid: string): string | undefined {
    return this.#names.get(uid);
  }

  #alone(pod: core.Pod, at: At): void {
    const hash = templateOf(pod);
    const isOld = ({ metadata }: core.Pod) => parseTime(metadata.creationTimestamp ?? '') < at.now - TEMPLATE_LAG_MS;
    const others = this.state.all('pods').filter((each) => each.metadata.labels?.app === RECREATED && templateOf(each) !== hash);
    const running = others.filter((each) => !hasEnded(each) && isOld(each));
    if (running.length > 0) this.#fault(at, `${pod.metadata.name} is made while ${running[0]?.metadata.name} still runs`);
  }

  /** Only the replica set controller deletes the calm pods, and never too many. */
  #stopped(before: core.Pod | undefined, after: core.Pod | undefined, at: At): void {
    if (after !== undefined) this.#names.set(after.metadata.uid ?? '', after.metadata.name);
    if (before === undefined || before.metadata.labels?.app !== CALM || !isActive(before) || (after && isActive(after))) return;
    const owner = ownerOf(before);
    const left = this.#activePods({ metadata: { uid: owner?.uid ?? '' } }).length;
    const least = this.#limits.get(`least ${owner?.uid}`)?.lowest(at.now) ?? 0;
    if (left < least) this.#fault(at, `${owner?.name} is left with ${left} pods, and asked for ${least}`);
  }

  #guarded(at: At): void {
    const pods = this.state.all('pods').filter((pod) => pod.metadata.labels?.app === 'guarded');
    const healthy = pods.filter((pod) => isActive(pod) && isReady(pod)).length;
    if (healthy < GUARDED_MINIMUM) this.#fault(at, `${healthy} guarded pods are healthy, and their budget asks for ${GUARDED_MINIMUM}`);
  }

  #activePods({ metadata }: { readonly metadata: { readonly uid?: string } }): readonly core.Pod[] {
    return this.state.all('pods').filter((pod) => ownerOf(pod)?.uid === metadata.uid && isActive(pod));
  }
}

type At = Omit<Change, 'before' | 'after'>;
type Owner = NonNullable<ReturnType<typeof ownerOf>>;

export function ownerOf({ metadata }: { readonly metadata: core.Pod['metadata'] }) {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function hasEnded({ status }: core.Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

export function isActive(pod: core.Pod): boolean {
  return !hasEnded(pod) && !pod.metadata.deletionTimestamp;
}

export function isReady({ status }: core.Pod): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True';
}

function isAvailable(pod: core.Pod, { spec }: apps.Deployment, now: number): boolean {
  const since = findCondition(pod.status?.conditions, 'Ready')?.lastTransitionTime;
  return isReady(pod) && parseTime(since ?? '') + (spec?.minReadySeconds ?? 0) * 1000 <= now;
}

/** Overdue pods are not counted: their node may never report them. */
export function isCharged(pod: core.Pod, now: number): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  const isOverdue = deletionTimestamp !== undefined && now > parseTime(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
  return !hasEnded(pod) && !isOverdue;
}

function templateOf({ metadata }: core.Pod): string | undefined {
  return metadata.labels?.['pod-template-hash'];
}

function indexOf({ metadata }: core.Pod): string | undefined {
  return metadata.annotations?.['batch.kubernetes.io/job-completion-index'];
}

/** The node of a DaemonSet's pod. */
function targetOf({ spec }: core.Pod): string | undefined {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.[0]?.matchFields?.[0]?.values?.[0];
}

function share(amount: string | number | undefined, total: number, round: (value: number) => number): number {
  if (amount === undefined) return 0;
  return typeof amount === 'number' ? amount : round((Number.parseInt(amount, 10) * total) / 100);
}
