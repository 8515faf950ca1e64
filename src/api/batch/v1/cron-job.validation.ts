import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { CronJob, CronJobSpec, JobTemplateSpec } from './cron-job.ts';
import { parseCronSchedule, timeZoneProblem } from './cron-schedule.ts';
import type { JobSpec } from './job-spec.ts';
import { validateJobSpec } from './job-spec.validation.ts';

const SPEC = Path.of('spec');
const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;
const EMPTY_SPEC = {} as CronJobSpec;
/** Job names append a dash and ten digits. */
const MAX_NAME_LENGTH = 52;
const TIME_ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

export function validateCronJob({ metadata, spec = EMPTY_SPEC }: CronJob): FieldError[] {
  const at = FieldReport.on(SPEC, validateObjectMeta(metadata, META_RULES));
  validateSpec(spec, at, undefined);
  const name = metadata?.name ?? '';
  if (Buffer.byteLength(name) > MAX_NAME_LENGTH) {
    FieldReport.on(METADATA, at.errors).child('name').invalid(name, `must be no more than ${MAX_NAME_LENGTH} characters`);
  }
  return at.errors;
}

export function validateCronJobUpdate({ metadata, spec = EMPTY_SPEC }: CronJob, old: CronJob): FieldError[] {
  const at = FieldReport.on(SPEC, validateObjectMetaUpdate(metadata, old.metadata));
  validateSpec(spec, at, old.spec ?? EMPTY_SPEC);
  return at.errors;
}

function validateSpec(spec: CronJobSpec, at: FieldReport, old: CronJobSpec | undefined): void {
  const { schedule, timeZone, concurrencyPolicy, jobTemplate = {} } = spec;
  if (!schedule) at.child('schedule').required();
  else validateSchedule(spec, at.child('schedule'), old);
  at.child('startingDeadlineSeconds').nonNegative(spec.startingDeadlineSeconds);
  if (timeZone !== undefined && (!old || old.timeZone !== timeZone)) validateTimeZone(timeZone, at.child('timeZone'));
  if (!concurrencyPolicy) at.child('concurrencyPolicy').required();
  else at.child('concurrencyPolicy').oneOf(concurrencyPolicy, ['Allow', 'Forbid', 'Replace']);
  validateTemplate(jobTemplate, at.child('jobTemplate').child('spec'));
  at.child('successfulJobsHistoryLimit').nonNegative(spec.successfulJobsHistoryLimit);
  at.child('failedJobsHistoryLimit').nonNegative(spec.failedJobsHistoryLimit);
}

function validateSchedule({ schedule, timeZone }: CronJobSpec, at: FieldReport, old: CronJobSpec | undefined): void {
  try {
    parseCronSchedule(schedule);
  } catch (error) {
    at.invalid(schedule, (error as Error).message);
  }
  if (!schedule.includes('TZ')) return;
  if (!old?.schedule?.includes('TZ')) at.invalid(schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  else if (timeZone !== undefined) at.invalid(schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
}

function validateTimeZone(timeZone: string, at: FieldReport): void {
  if (timeZone === '') {
    at.invalid(timeZone, 'timeZone must be nil or non-empty string');
    return;
  }
  const isWellFormed = timeZone
    .split('/')
    .every((part) => part !== '.' && part !== '..' && !part.startsWith('-') && TIME_ZONE_PART.test(part));
  if (!isWellFormed) {
    at.invalid(timeZone, `unknown time zone ${timeZone}`);
    return;
  }
  if (timeZone.toLowerCase() === 'local') {
    at.invalid(timeZone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  }
  const problem = timeZoneProblem(timeZone);
  if (problem) at.invalid(timeZone, problem);
}

function validateTemplate({ spec = {} as JobSpec }: JobTemplateSpec, at: FieldReport): void {
  validateJobSpec(spec, at);
  if (spec.selector) at.child('selector').invalid(goStruct(LabelSelector, spec.selector), '`selector` will be auto-generated');
  if (spec.manualSelector) at.child('manualSelector').notSupported(true, ['nil', 'false']);
}
