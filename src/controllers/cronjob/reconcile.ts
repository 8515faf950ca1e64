import { batch, type core } from '#api';
import { apiVersionOf, formatTime, parseTime } from '#machinery';
import { controllerRef } from '../runtime/controller-ref.ts';
import { nextTime, zonedTime } from './next-time.ts';

/** Validation guarantees the spec. */
export type CronJob = batch.CronJob & { readonly spec: batch.CronJobSpec };
type Job = batch.Job;

const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const MANY_MISSED = 100;

export function finishedType({ status }: Job): 'Complete' | 'Failed' | undefined {
  return batch.finishedCondition(status)?.type as 'Complete' | 'Failed' | undefined;
}

export interface Note {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** The cron job without these jobs in its active list. */
export function withoutActiveJobs(cronJob: CronJob, removed: ReadonlySet<string>): CronJob {
  if (removed.size === 0) return cronJob;
  const { active = [], ...status } = cronJob.status ?? {};
  const left = active.filter(({ uid }) => !removed.has(uid ?? ''));
  return { ...cronJob, status: { ...status, ...(left.length > 0 && { active: left }) } };
}

/** The status and events of a cron job, from its jobs. `live`: uids of jobs that exist though they are not in the list. */
export function observeJobs(
  cronJob: CronJob,
  jobs: readonly Job[],
  live: ReadonlySet<string> = new Set(),
): { readonly status: batch.CronJobStatus; readonly notes: readonly Note[] } {
  const notes: Note[] = [];
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const active = (cronJob.status?.active ?? []).filter(({ uid, name }) => {
    const job = byUid.get(uid);
    const condition = job && finishedType(job);
    if (job !== undefined ? condition === undefined : live.has(uid ?? '')) return true;
    if (job === undefined) notes.push({ type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${name}` });
    else notes.push({ type: 'Normal', reason: 'SawCompletedJob', message: `Saw completed job: ${name}, condition: ${condition}` });
    return false;
  });
  const activeUids = new Set((cronJob.status?.active ?? []).map(({ uid }) => uid));
  for (const job of jobs) {
    if (activeUids.has(job.metadata.uid) || finishedType(job) !== undefined) continue;
    const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
    notes.push({ type: 'Warning', reason: 'UnexpectedJob', message });
  }
  const successes = jobs.flatMap((job) =>
    finishedType(job) === 'Complete' && job.status?.completionTime ? [job.status.completionTime] : [],
  );
  const last = [cronJob.status?.lastSuccessfulTime, ...successes]
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);
  const { active: _, ...rest } = cronJob.status ?? {};
  return { status: { ...rest, ...(active.length > 0 && { active }), ...(last !== undefined && { lastSuccessfulTime: last }) }, notes };
}

/** The finished jobs beyond the limits of the history, the oldest first. */
export function outdatedJobs({ spec }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const beyond = (type: 'Complete' | 'Failed', limit: number | undefined) => {
    const finished = jobs.filter((job) => finishedType(job) === type && job.metadata.deletionTimestamp === undefined);
    const byStart = finished.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    return limit === undefined ? [] : byStart.slice(0, Math.max(0, byStart.length - limit));
  };
  return [...beyond('Complete', spec.successfulJobsHistoryLimit), ...beyond('Failed', spec.failedJobsHistoryLimit)];
}

function orderOf({ status, metadata }: Job): string {
  return `${status?.startTime ?? ''}\0${metadata.name}`;
}

export interface DueTime {
  /** The most recent missed time; undefined if there is none. */
  readonly due: number | undefined;
  readonly hasMissedMany: boolean;
  /** The next scheduled time. */
  readonly next: number | undefined;
}

export function dueTime({ metadata, spec, status }: CronJob, schedule: batch.CronSchedule, now: number): DueTime {
  const zone = spec.timeZone ?? '';
  const created = parseTime(metadata.creationTimestamp ?? formatTime(now));
  const last = status?.lastScheduleTime ? parseTime(status.lastScheduleTime) : created;
  const deadline = spec.startingDeadlineSeconds === undefined ? -Infinity : now - spec.startingDeadlineSeconds * 1000;
  const earliest = Math.max(last, deadline);
  const first = nextTime(schedule, earliest, zone);
  const next = nextTime(schedule, now, zone);
  if (first === undefined || first > now) return { due: undefined, hasMissedMany: false, next };
  const second = nextTime(schedule, first, zone);
  if (second === undefined || second > now) return { due: first, hasMissedMany: false, next };
  // Schedules have nearly even steps: most missed times are skipped by arithmetic.
  const missed = Math.floor((now - first) / (second - first)) + 1;
  let due: number | undefined;
  let at = nextTime(schedule, first + (missed - 2) * (second - first), zone);
  while (at !== undefined && at <= now) {
    due = at;
    at = nextTime(schedule, at, zone);
  }
  return { due, hasMissedMany: missed > MANY_MISSED, next };
}

/** How long until the next scheduled time; 0 when the schedule never matches, so that the sync reports it; undefined when it cannot be parsed. */
export function waitForNext(cronJob: CronJob, now: number): number | undefined {
  const schedule = parsedSchedule(cronJob.spec.schedule);
  return schedule && (nextTime(schedule, now, cronJob.spec.timeZone ?? '') ?? now) - now;
}

function parsedSchedule(text: string): batch.CronSchedule | undefined {
  try {
    return batch.parseCronSchedule(text);
  } catch {
    return undefined;
  }
}

export function jobName({ metadata }: CronJob, due: number): string {
  return `${metadata.name}-${Math.floor(due / 60_000)}`;
}

export function jobFor(cronJob: CronJob, due: number): Job {
  const { jobTemplate, timeZone = '' } = cronJob.spec;
  const { namespace } = cronJob.metadata;
  return {
    metadata: {
      name: jobName(cronJob, due),
      ...(namespace !== undefined && { namespace }),
      ...(jobTemplate.metadata?.labels && { labels: jobTemplate.metadata.labels }),
      annotations: { ...jobTemplate.metadata?.annotations, [SCHEDULED_AT]: zonedTime(due, timeZone) },
      ownerReferences: [controllerRef(cronJob, batch.CronJob)],
    },
    ...(jobTemplate.spec && { spec: jobTemplate.spec }),
  };
}

export function referenceToJob({ metadata }: Job): core.ObjectReference {
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { kind: 'Job', namespace, name, uid, apiVersion: apiVersionOf(batch.Job), resourceVersion };
}
