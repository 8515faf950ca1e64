import { batch } from '#api';
import { type EventRecorder, type Lister, parseKey } from '#client';
import { deepEqual, formatTime, isStatusReason, StatusError } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { controllerOf, isControlledBy } from '../runtime/controller-ref.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { type CronJob, dueTime, jobFor, jobName, observeJobs, outdatedJobs, referenceToJob } from './reconcile.ts';

type Job = batch.Job;
/** So that the clock has passed the time for sure when it is looked at. */
const LATE_MS = 100;

/** Starts jobs at given times. */
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
    this.#keyed = new KeyedController(context, { name: 'cronjob', concurrency, isExpected: isGone, sync: (key) => this.#sync(key) });
    cronJobs.addHandler(this.#keyed.handler());
    const tell = (job: Job) => {
      const reference = controllerOf(job);
      if (reference?.kind === 'CronJob') this.#keyed.queue.add(`${job.metadata.namespace}/${reference.name}`);
    };
    jobs.addHandler({ add: tell, update: (_, job) => tell(job), delete: tell });
  }

  run(): Promise<void> {
    return this.#keyed.run();
  }

  async #sync(key: string): Promise<void> {
    const cached = this.#cronJobs.get(parseKey(key));
    if (cached?.spec === undefined) return;
    const cronJob = { ...cached, spec: cached.spec };
    const jobs = this.#jobs.list(cronJob.metadata.namespace).filter((job) => isControlledBy(job, cronJob));
    const { status, notes } = observeJobs(cronJob, jobs);
    for (const note of notes) this.#events.record(cronJob, note);
    for (const job of outdatedJobs(cronJob, jobs)) await this.#delete(cronJob, job);
    const observed = { ...cronJob, status };
    const next = cronJob.metadata.deletionTimestamp === undefined ? await this.#start(observed) : observed;
    if (!deepEqual(next.status, cronJob.status)) await this.context.client.of(batch.CronJob).updateStatus(next);
  }

  /** Starts a job if one is due; returns the cron job with its status after that. */
  async #start(cronJob: CronJob): Promise<CronJob> {
    const schedule = this.#scheduleOf(cronJob);
    if (schedule === undefined) return cronJob;
    const now = this.context.clock.now();
    const { due, next, hasMissedMany } = dueTime(cronJob, schedule, now);
    if (next !== undefined) this.#keyed.enqueueAfter(cronJob, next - now + LATE_MS);
    if (hasMissedMany) {
      const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
      this.#events.warning(cronJob, 'TooManyMissedTimes', message);
    }
    if (due === undefined || !this.#mayStart(cronJob, due, now)) return cronJob;
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

  #warn(cronJob: CronJob, reason: string, message: string): void {
    this.#events.warning(cronJob, reason, message);
  }

  #mayStart(cronJob: CronJob, due: number, now: number): boolean {
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
      const job = this.#jobs.get({ name, namespace });
      if (job !== undefined) await this.#delete(cronJob, job);
    }
    const { active: _, ...status } = cronJob.status ?? {};
    return { ...cronJob, status };
  }

  async #delete(cronJob: CronJob, job: Job): Promise<void> {
    try {
      await this.context.client.of(batch.Job).delete(job.metadata, { propagationPolicy: 'Background' });
      this.#events.normal(cronJob, 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
    } catch (error) {
      if (isGone(error)) return;
      this.#warn(cronJob, 'FailedDelete', `Deleted job: ${(error as Error).message}`);
      throw error;
    }
  }

  async #create(cronJob: CronJob, due: number): Promise<CronJob> {
    const job = await this.#createJob(cronJob, jobFor(cronJob, due));
    const active = cronJob.status?.active ?? [];
    if (job === undefined || active.some(({ uid }) => uid === job.metadata.uid)) return cronJob;
    return { ...cronJob, status: { ...cronJob.status, active: [...active, referenceToJob(job)], lastScheduleTime: formatTime(due) } };
  }

  /** Undefined when another's job has the name. */
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
