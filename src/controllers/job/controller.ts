import { batch, core } from '#api';
import { perKeyBackoff } from '#base';
import { type EventRecorder, keyOf, type Lister, parseKey } from '#client';
import { deepEqual, lenientSelector, parseTime, StatusError, selectorFromObject } from '#machinery';
import { claimObjects } from '../runtime/claim-objects.ts';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { controllerOf, controllerRef } from '../runtime/controller-ref.ts';
import { Expectations } from '../runtime/expectations.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { OwnWrites, type ResourceFollower } from '../runtime/own-writes.ts';
import { PodControl } from '../runtime/pod-control.ts';
import { type PodsByController, podsByController } from '../runtime/pod-state.ts';
import { slowStartBatch } from '../runtime/slow-start-batch.ts';
import type { FailureRecord } from './backoff.ts';
import { isTracked, TRACKING_FINALIZER } from './job-pods.ts';
import { namePrefix, podTemplate } from './job-template.ts';
import { assessJob, isComplete, isSuspended, type JobState, newCondition, type ObservedJob, planPods } from './reconcile.ts';
import { finalCondition, finishedStatus, type PassResult, statusAfterPass } from './status.ts';
import { track, withoutReleased } from './track.ts';

/** Runs the pods of jobs until enough of them have succeeded, or too many have failed. */
export const jobController: Controller = {
  name: 'job-controller',
  aliases: ['job'],
  enabledByDefault: true,
  start: (context) => new JobController(context),
};

type Job = batch.Job;
const BUILT_IN = 'kubernetes.io/job-controller';
/** Backoff of failed pod creations. */
const API_BACKOFF = { initialMs: 1000, maxMs: 60_000 };

class JobController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #orphans: KeyedController;
  readonly #expectations: Expectations;
  readonly #ownWrites = new OwnWrites();
  readonly #caches: { readonly jobs: ResourceFollower; readonly pods: ResourceFollower };
  readonly #events: EventRecorder;
  readonly #control: PodControl;
  readonly #jobs: Lister<Job>;
  readonly #podLister: Lister<core.Pod>;
  readonly #pods: PodsByController;
  readonly #released = new Map<string, Set<string>>();
  readonly #failures = new Map<string, FailureRecord>();
  readonly #finished = new Set<string>();

  constructor(private readonly context: ControllerContext) {
    const { informers, client, clock, options } = context;
    const jobs = informers.of(batch.Job);
    const pods = informers.of(core.Pod);
    this.#caches = { jobs, pods };
    this.#jobs = jobs.lister;
    this.#podLister = pods.lister;
    this.#pods = podsByController(pods);
    this.#expectations = new Expectations(clock);
    this.#events = context.recorder('job-controller');
    this.#control = new PodControl({ client, events: this.#events });
    const concurrency = options.concurrentJobSyncs;
    const common = () => ({ isExpected: isGone, rateLimiter: perKeyBackoff<string>(API_BACKOFF) });
    this.#keyed = new KeyedController(context, {
      ...common(),
      name: 'job',
      concurrency,
      objects: jobs.lister,
      sync: (key) => this.#sync(key),
    });
    this.#orphans = new KeyedController(context, {
      ...common(),
      name: 'job_orphan_pod',
      objects: pods.lister,
      sync: (key) => this.#syncOrphan(key),
    });
    jobs.addHandler({
      add: (job) => this.#keyed.enqueue(job),
      update: (_, job) => this.#keyed.enqueue(job),
      delete: (job) => this.#jobDeleted(job),
    });
    pods.addHandler({
      add: (pod) => this.#podAdded(pod),
      update: (before, pod) => this.#podUpdated(before, pod),
      delete: (pod) => this.#podDeleted(pod),
    });
  }

  async run(): Promise<void> {
    await Promise.all([this.#keyed.run(), this.#orphans.run()]);
  }

  // --- events of jobs and pods ---------------------------------------------------------------------------------------

  #jobOf(pod: core.Pod): Job | undefined {
    const reference = controllerOf(pod);
    if (reference?.kind !== 'Job') return undefined;
    const job = this.#jobs.get({ name: reference.name, namespace: pod.metadata.namespace });
    return job?.metadata.uid === reference.uid ? job : undefined;
  }

  #jobDeleted(job: Job): void {
    this.#ownWrites.forget(keyOf(job));
    this.#keyed.enqueue(job);
    this.#releaseLeftoverPods(job);
  }

  /** Finished jobs count no pods: their finalizers are removed. */
  #releaseLeftoverPods(job: Job): void {
    for (const pod of this.#pods.ownedBy(job.metadata.uid ?? '')) if (isTracked(pod)) this.#orphans.enqueue(pod);
  }

  #podAdded(pod: core.Pod): void {
    if (pod.metadata.deletionTimestamp !== undefined) this.#podDeleted(pod);
    else if (controllerOf(pod) === undefined) this.#orphaned(pod);
    else {
      const job = this.#jobOf(pod);
      if (job === undefined) {
        this.#orphaned(pod);
        return;
      }
      this.#expectations.creationObserved(keyOf(job));
      this.#enqueueCoalesced(job);
    }
  }

  #podUpdated(before: core.Pod, pod: core.Pod): void {
    if (pod.metadata.deletionTimestamp !== undefined && before.metadata.deletionTimestamp === undefined) this.#podDeleted(pod);
    const previous = controllerOf(before)?.uid === controllerOf(pod)?.uid ? undefined : this.#jobOf(before);
    if (previous !== undefined) this.#keyed.enqueue(previous);
    const job = this.#jobOf(pod);
    if (job === undefined) {
      this.#orphaned(pod);
      return;
    }
    if (!isTracked(pod)) this.#released.get(keyOf(job))?.delete(pod.metadata.uid ?? '');
    if (batch.isFinished(job) && isTracked(pod)) this.#orphans.enqueue(pod);
    this.#enqueueCoalesced(job);
  }

  #podDeleted(pod: core.Pod): void {
    const job = this.#jobOf(pod);
    if (job === undefined) {
      this.#orphaned(pod);
      return;
    }
    this.#expectations.deletionObserved(keyOf(job), keyOf(pod));
    if (!isTracked(pod)) this.#released.get(keyOf(job))?.delete(pod.metadata.uid ?? '');
    this.#enqueueCoalesced(job);
  }

  #enqueueCoalesced(job: Job): void {
    this.#keyed.enqueueCoalesced(job, this.#pods.countOwnedBy(job.metadata.uid ?? ''));
  }

  /** Without a job the tracking finalizer is removed, unless another job adopts the pod. */
  #orphaned(pod: core.Pod): void {
    if (isTracked(pod)) this.#orphans.enqueue(pod);
    if (controllerOf(pod) !== undefined || pod.metadata.deletionTimestamp !== undefined) return;
    for (const job of this.#jobs.list(pod.metadata.namespace)) {
      if (lenientSelector(job.spec?.selector).matches(pod.metadata.labels)) this.#keyed.enqueue(job);
    }
  }

  async #syncOrphan(key: string): Promise<void> {
    const pod = this.#podLister.get(parseKey(key));
    if (pod === undefined || !isTracked(pod)) return;
    const job = this.#jobOf(pod);
    if (job !== undefined && !batch.isFinished(job)) return;
    if (job === undefined && (await this.#existsUnseen(pod))) return;
    await this.#release(pod);
  }

  /** Whether the job exists although the cache does not show it yet. */
  async #existsUnseen(pod: core.Pod): Promise<boolean> {
    const reference = controllerOf(pod);
    if (reference?.kind !== 'Job') return false;
    try {
      const job = await this.context.client.of(batch.Job).get({ name: reference.name, namespace: pod.metadata.namespace });
      return job.metadata.uid === reference.uid && !batch.isFinished(job);
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }

  // --- syncing a job -------------------------------------------------------------------------------------------------

  async #sync(key: string): Promise<void> {
    if (!this.#ownWrites.clearSeen(key)) return;
    const job = this.#jobs.get(parseKey(key));
    if (job === undefined) return this.#forget(key);
    if ((job.spec?.managedBy ?? BUILT_IN) !== BUILT_IN) return;
    const uid = job.metadata.uid ?? '';
    if (batch.isFinished(job)) {
      this.#finished.delete(uid);
      this.#failures.delete(key);
      this.#releaseLeftoverPods(job);
      return;
    }
    if (!this.#finished.has(uid)) await this.#reconcile(key, job);
  }

  #forget(key: string): void {
    this.#ownWrites.forget(key);
    this.#expectations.forget(key);
    this.#released.delete(key);
    this.#failures.delete(key);
  }

  async #reconcile(key: string, job: Job): Promise<void> {
    const mayAct = this.#expectations.satisfied(key);
    const pods = await this.#claim(job);
    const now = this.context.clock.now();
    const observed: ObservedJob = { job, pods, released: new Set(this.#released.get(key)), failures: this.#failures.get(key), now };
    const state = assessJob(observed);
    const acted = state.outcome
      ? await this.#endPods(job, state, mayAct)
      : await this.#managePods(observed, state, mayAct && job.metadata.deletionTimestamp === undefined);
    this.#awaitDeadline(job, state, now);
    await this.#report(key, { observed, state, acted });
    if (acted.error !== undefined) throw acted.error;
  }

  async #claim(job: Job): Promise<readonly core.Pod[]> {
    const { client } = this.context;
    const candidates = [...this.#pods.ownedBy(job.metadata.uid ?? ''), ...this.#pods.orphansIn(job.metadata.namespace ?? '')];
    return claimObjects(candidates, {
      owner: job,
      ownerRef: controllerRef(job, batch.Job),
      selector: selectorFromObject(job.spec?.selector),
      client: client.of(core.Pod),
      finalizers: [TRACKING_FINALIZER],
      ensureCanAdopt: async () => {
        const live = await client.of(batch.Job).get(job.metadata);
        if (live.metadata.uid !== job.metadata.uid) throw new Error(`original Job ${keyOf(job)} is gone`);
        if (live.metadata.deletionTimestamp !== undefined) throw new Error(`${keyOf(job)} has just been deleted`);
      },
    });
  }

  #awaitDeadline(job: Job, { startTime }: JobState, now: number): void {
    const { activeDeadlineSeconds } = job.spec ?? {};
    if (activeDeadlineSeconds === undefined || startTime === undefined || isSuspended(job)) return;
    this.#keyed.enqueueAfter(job, Math.max(0, parseTime(startTime) + activeDeadlineSeconds * 1000 - now));
  }

  /** The job has finished: its active pods are deleted and counted as failed. */
  async #endPods(job: Job, { active, outcome }: JobState, mayAct: boolean): Promise<PassResult> {
    const results = await Promise.allSettled(active.map((pod) => this.#control.delete(pod, job)));
    const failed = results.filter((result) => result.status === 'rejected' && !isGone(result.reason));
    const deleted = active.filter((_, i) => !failed.includes(results[i]!));
    const isDone = failed.length === 0 && mayAct;
    return { deleted, created: 0, outcome: isDone ? outcome : undefined, error: reasonOf(failed[0]), managed: false };
  }

  async #managePods(observed: ObservedJob, state: JobState, mayAct: boolean): Promise<PassResult> {
    const { job, now } = observed;
    const plan = mayAct ? planPods(observed, state) : { remove: [], create: [], waitMs: undefined };
    if (plan.waitMs !== undefined) this.#keyed.enqueueAfter(job, plan.waitMs);
    const removed = plan.remove.length > 0 ? await this.#remove(job, plan.remove) : { deleted: [], error: undefined };
    const creation = plan.create.length > 0 ? await this.#create(job, plan.create, state) : { created: 0, error: undefined };
    const active = state.active.length - removed.deleted.length + creation.created;
    const outcome = isComplete(job, state.succeeded, active)
      ? newCondition('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods', now)
      : undefined;
    return { ...removed, ...creation, outcome, error: removed.error ?? creation.error, managed: mayAct };
  }

  /** Surplus pods did not fail: their finalizer is removed so that they are not counted. */
  async #remove(job: Job, pods: readonly core.Pod[]): Promise<{ readonly deleted: readonly core.Pod[]; readonly error: unknown }> {
    const key = keyOf(job);
    this.#expectations.expectDeletions(key, pods.map(keyOf));
    const results = await Promise.allSettled(
      pods.map(async (pod) => {
        try {
          if (isTracked(pod)) this.#ownWrites.wrote(key, this.#caches.pods, await this.#release(pod));
          await this.#control.delete(pod, job);
        } catch (error) {
          this.#expectations.deletionObserved(key, keyOf(pod));
          if (!isGone(error)) throw error;
        }
      }),
    );
    const failed = results.find((result) => result.status === 'rejected');
    return { deleted: pods.filter((_, i) => results[i]?.status === 'fulfilled'), error: reasonOf(failed) };
  }

  async #create(job: Job, indexes: readonly (number | undefined)[], { retained }: JobState) {
    const key = keyOf(job);
    this.#expectations.expectCreations(key, indexes.length);
    const { successes, failure } = await slowStartBatch(indexes.length, 1, async (i) => {
      const index = indexes[i];
      const template = podTemplate(job, index, index === undefined ? undefined : retained.get(index));
      const naming = index === undefined ? {} : { generateName: namePrefix(job.metadata.name, index) };
      const ownerRef = controllerRef(job, batch.Job);
      try {
        const draft = { namespace: job.metadata.namespace ?? '', template, parent: job, ownerRef, ...naming };
        this.#ownWrites.wrote(key, this.#caches.pods, await this.#control.create(draft));
      } catch (error) {
        if (!(error instanceof StatusError && error.hasCause('NamespaceTerminating'))) throw error;
      }
    });
    this.#expectations.creationObserved(key, indexes.length - successes);
    return { created: successes, error: failure };
  }

  // --- writing -------------------------------------------------------------------------------------------------------

  async #report(key: string, { observed, state, acted }: Report): Promise<void> {
    const { job, pods } = observed;
    const base = this.#statusOf(observed, state, acted);
    const tracking = track(observed, state, { status: base, outcome: acted.outcome });
    let current = job;
    if (!deepEqual(tracking.status, job.status)) current = await this.#writeStatus(job, tracking.status);
    this.#failures.set(key, state.failures);
    const error = await this.#releaseAll(key, tracking.release);
    const released = this.#released.get(key);
    const present = new Set(
      pods.filter((pod) => isTracked(pod) && !released?.has(pod.metadata.uid ?? '')).map(({ metadata }) => metadata.uid ?? ''),
    );
    const settled = withoutReleased(current.status ?? {}, present);
    // The final condition is written once every counted pod has lost its finalizer.
    const final = tracking.hasMore || error !== undefined ? undefined : finalCondition(settled, tracking.final);
    const status = final ? finishedStatus(settled, final) : settled;
    if (!deepEqual(status, current.status)) {
      const written = await this.#writeStatus(current, status);
      if (final) this.#finish(written, final);
    }
    if (error !== undefined) throw error;
  }

  #statusOf(observed: ObservedJob, state: JobState, pass: PassResult): batch.JobStatus {
    const { job } = observed;
    const { status, suspension } = statusAfterPass(observed, state, pass);
    if (suspension !== undefined) this.#events.normal(job, suspension, `Job ${suspension.toLowerCase()}`);
    return status;
  }

  async #writeStatus(job: Job, status: batch.JobStatus): Promise<Job> {
    const written = await this.context.client.of(batch.Job).updateStatus({ ...job, status });
    this.#ownWrites.wrote(keyOf(job), this.#caches.jobs, written);
    return written;
  }

  async #releaseAll(key: string, pods: readonly core.Pod[]): Promise<unknown> {
    const released = this.#released.get(key) ?? new Set<string>();
    this.#released.set(key, released);
    const results = await Promise.allSettled(
      pods.map(async (pod) => {
        released.add(pod.metadata.uid ?? '');
        try {
          this.#ownWrites.wrote(key, this.#caches.pods, await this.#release(pod));
        } catch (error) {
          if (!isGone(error)) {
            released.delete(pod.metadata.uid ?? '');
            throw error;
          }
        }
      }),
    );
    return reasonOf(results.find((result) => result.status === 'rejected'));
  }

  #release({ metadata }: core.Pod): Promise<core.Pod> {
    const { name, namespace, uid } = metadata;
    const patch = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] } };
    return this.context.client.of(core.Pod).patch({ name, namespace }, patch, { type: 'strategic' });
  }

  #finish(job: Job, { type, reason = '', message = '' }: batch.JobCondition): void {
    this.#finished.add(job.metadata.uid ?? '');
    if (type !== 'Complete') {
      this.#events.warning(job, reason, message);
      return;
    }
    if (job.spec?.completions !== undefined && (job.status?.succeeded ?? 0) > job.spec.completions) {
      this.#events.warning(job, 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached');
    }
    this.#events.normal(job, 'Completed', 'Job completed');
  }
}

interface Report {
  readonly observed: ObservedJob;
  readonly state: JobState;
  readonly acted: PassResult;
}

function reasonOf(result: PromiseSettledResult<unknown> | undefined): unknown {
  return result?.status === 'rejected' ? result.reason : undefined;
}
