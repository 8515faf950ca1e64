import { batch } from '#api';
import { type EventRecorder, type Lister, type ObjectKey, parseKey } from '#client';
import { deepEqual, formatTime, isStatusReason, StatusError } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { controllerOf, isControlledBy } from '../runtime/controller-ref.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import {
  type CronJob,
  dueTime,
  finishedType,
  jobFor,
  jobName,
  observeJobs,
  outdatedJobs,
  referenceToJob,
  waitForNext,
  withoutActiveJobs,
} from './reconcile.ts';

type Job = batch.Job;
/** Added to each wait, so that the scheduled time has passed when the timer fires. */
const LATE_MS = 100;

/** Creates jobs on their schedule. */
export const cronJobController: Controller = {
  name: 'cronjob-controller',
  aliases: ['cronjob'],
  enabledByDefault: true,
  start: (context) => new CronJobController(context),
};

class CronJobController implements RunningController {
  readonly #keyed: KeyedController;
  readonly #events: EventRecorder;
  readonly #cronJobs: Lister<batch.CronJob>;
  readonly #jobs: Lister<Job>;

  constructor(private readonly context: ControllerContext) {
    const { informers, options } = context;
    const cronJobs = informers.of(batch.CronJob);
    const jobs = informers.of(batch.Job);
    this.#cronJobs = cronJobs.lister;
    this.#jobs = jobs.lister;
    this.#events = context.recorder('cronjob-controller');
    const concurrency = options.concurrentCronJobSyncs;
    this.#keyed = new KeyedController(context, {
      name: 'cronjob',
      concurrency,
      isExpected: isGone,
      objects: cronJobs.lister,
      sync: (key) => this.#sync(key),
    });
    cronJobs.addHandler({ ...this.#keyed.handler(), update: (before, cronJob) => this.#changed(before, cronJob) });
    const enqueueOwner = (job: Job) => {
      const reference = controllerOf(job);
      if (reference?.kind === 'CronJob') this.#keyed.queue.add(`${job.metadata.namespace}/${reference.name}`);
    };
    jobs.addHandler({ add: enqueueOwner, update: (_, job) => enqueueOwner(job), delete: enqueueOwner });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  /** A changed schedule applies from its next time on; other changes are handled now. */
  #changed(before: batch.CronJob, cronJob: batch.CronJob): void {
    const { spec } = cronJob;
    const isSame = before.spec?.schedule === spec?.schedule && before.spec?.timeZone === spec?.timeZone;
    if (spec === undefined || isSame) {
      this.#keyed.enqueue(cronJob);
      return;
    }
    const { clock } = this.context;
    const waitMs = waitForNext({ ...cronJob, spec }, clock.now());
    if (waitMs !== undefined) this.#keyed.enqueueAfter(cronJob, waitMs + LATE_MS);
    else this.#warn(cronJob, 'UnParseableCronJobSchedule', `unparseable schedule for cronjob: ${spec.schedule}`);
  }

  async #sync(key: string): Promise<void> {
    const cached = this.#cronJobs.get(parseKey(key));
    if (cached?.spec === undefined) return;
    const jobs = this.#jobs.list(cached.metadata.namespace).filter((job) => isControlledBy(job, cached));
    const withSpec = { ...cached, spec: cached.spec };
    const removed = await this.#removeOutdated(withSpec, jobs);
    const { cronJob, live } = await this.#compareWithLive(withoutActiveJobs(withSpec, removed), jobs);
    const { status, notes } = observeJobs(cronJob, jobs, live);
    for (const note of notes) this.#events.record(cronJob, note);
    const observed = { ...cronJob, status };
    const next = cronJob.metadata.deletionTimestamp === undefined ? await this.#start(observed) : observed;
    if (!deepEqual(next.status, cached.status)) await this.context.client.of(batch.CronJob).updateStatus(next);
  }

  async #removeOutdated(cronJob: CronJob, jobs: readonly Job[]): Promise<ReadonlySet<string>> {
    const removed = new Set<string>();
    for (const job of outdatedJobs(cronJob, jobs)) {
      if (await this.#delete(cronJob, job)) removed.add(job.metadata.uid ?? '');
    }
    return removed;
  }

  /** The cache may be stale: events are reported only after a live GET. */
  async #compareWithLive(
    cronJob: CronJob,
    jobs: readonly Job[],
  ): Promise<{ readonly cronJob: CronJob; readonly live: ReadonlySet<string> }> {
    const { client } = this.context;
    const { active = [] } = cronJob.status ?? {};
    const isUnexpected = jobs.some((job) => finishedType(job) === undefined && !active.some(({ uid }) => uid === job.metadata.uid));
    const fresh = isUnexpected ? await client.of(batch.CronJob).get(cronJob.metadata) : undefined;
    const latest = fresh?.spec && fresh.metadata.uid === cronJob.metadata.uid ? { ...fresh, spec: fresh.spec } : cronJob;
    const live = new Set<string>();
    for (const { uid = '', name = '', namespace } of latest.status?.active ?? []) {
      if (jobs.some((job) => job.metadata.uid === uid)) continue;
      if ((await this.#getJob({ name, namespace }))?.metadata.uid === uid) live.add(uid);
    }
    return { cronJob: latest, live };
  }

  async #getJob(key: ObjectKey): Promise<Job | undefined> {
    try {
      return await this.context.client.of(batch.Job).get(key);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  /** Starts a job if one is due; returns the cron job with its status after that. */
  async #start(cronJob: CronJob): Promise<CronJob> {
    const schedule = this.#scheduleOf(cronJob);
    if (schedule === undefined) return cronJob;
    const now = this.context.clock.now();
    const { due, next, hasMissedMany } = dueTime(cronJob, schedule, now);
    if (next === undefined) {
      const message = `invalid schedule: ${cronJob.spec.schedule} : time difference between two schedules is less than 1 second`;
      this.#warn(cronJob, 'InvalidSchedule', message);
      return cronJob;
    }
    this.#keyed.enqueueAfter(cronJob, next - now + LATE_MS);
    if (hasMissedMany) {
      const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
      this.#events.warning(cronJob, 'TooManyMissedTimes', message);
    }
    if (due === undefined || !this.#admitRun(cronJob, due, now)) return cronJob;
    const cleared = cronJob.spec.concurrencyPolicy === 'Replace' ? await this.#replaceActive(cronJob) : cronJob;
    return this.#create(cleared, due);
  }

  #scheduleOf(cronJob: CronJob): batch.CronSchedule | undefined {
    const { schedule, timeZone, suspend } = cronJob.spec;
    const problem = timeZone === undefined ? undefined : batch.timeZoneProblem(timeZone);
    if (problem !== undefined) {
      this.#warn(cronJob, 'UnknownTimeZone', `invalid timeZone: ${JSON.stringify(timeZone)}: ${problem}`);
      return undefined;
    }
    if (suspend) return undefined;
    try {
      return batch.parseCronSchedule(schedule);
    } catch (error) {
      this.#warn(cronJob, 'UnparseableSchedule', `unparseable schedule: ${JSON.stringify(schedule)} : ${(error as Error).message}`);
      return undefined;
    }
  }

  #warn(cronJob: batch.CronJob, reason: string, message: string): void {
    this.#events.warning(cronJob, reason, message);
  }

  /** Whether the run that is due starts; an event says why not. */
  #admitRun(cronJob: CronJob, due: number, now: number): boolean {
    const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec;
    const { active = [], lastScheduleTime } = cronJob.status ?? {};
    if (startingDeadlineSeconds !== undefined && due + startingDeadlineSeconds * 1000 < now) {
      this.#warn(cronJob, 'MissSchedule', `Missed scheduled time to start a job: ${new Date(due).toUTCString().replace('GMT', '+0000')}`);
      return false;
    }
    if (active.some(({ name }) => name === jobName(cronJob, due)) || lastScheduleTime === formatTime(due)) return false;
    if (concurrencyPolicy !== 'Forbid' || active.length === 0) return true;
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    this.#events.normal(cronJob, 'JobAlreadyActive', message);
    return false;
  }

  async #replaceActive(cronJob: CronJob): Promise<CronJob> {
    for (const { name = '', namespace } of cronJob.status?.active ?? []) {
      const job = await this.context.client
        .of(batch.Job)
        .get({ name, namespace })
        .catch((error: unknown) => {
          this.#warn(cronJob, 'FailedGet', `Get job: ${(error as Error).message}`);
          throw error;
        });
      if (!(await this.#delete(cronJob, job))) throw new Error(`could not replace job ${namespace}/${name}`);
    }
    const { active: _, ...status } = cronJob.status ?? {};
    return { ...cronJob, status };
  }

  /** Resolves to whether the job was deleted. */
  async #delete(cronJob: CronJob, job: Job): Promise<boolean> {
    try {
      await this.context.client.of(batch.Job).delete(job.metadata, { propagationPolicy: 'Background' });
      this.#events.normal(cronJob, 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
      return true;
    } catch (error) {
      this.#warn(cronJob, 'FailedDelete', `Deleted job: ${(error as Error).message}`);
      return false;
    }
  }

  async #create(cronJob: CronJob, due: number): Promise<CronJob> {
    const job = await this.#createJob(cronJob, jobFor(cronJob, due));
    const active = cronJob.status?.active ?? [];
    if (job === undefined || active.some(({ uid }) => uid === job.metadata.uid)) return cronJob;
    return { ...cronJob, status: { ...cronJob.status, active: [...active, referenceToJob(job)], lastScheduleTime: formatTime(due) } };
  }

  /** Undefined when a job of another owner has the name. */
  async #createJob(cronJob: CronJob, draft: Job): Promise<Job | undefined> {
    const client = this.context.client.of(batch.Job);
    try {
      const job = await client.create(draft);
      this.#events.normal(cronJob, 'SuccessfulCreate', `Created job ${job.metadata.name}`);
      return job;
    } catch (error) {
      if (isStatusReason(error, 'AlreadyExists')) {
        const existing = await client.get(draft.metadata);
        return isControlledBy(existing, cronJob) ? existing : undefined;
      }
      const isTerminating = error instanceof StatusError && error.hasCause('NamespaceTerminating');
      if (!isTerminating) this.#warn(cronJob, 'FailedCreate', `Error creating job: ${(error as Error).message}`);
      throw error;
    }
  }
}
