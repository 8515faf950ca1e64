import { type FieldError, isConditionFalse, isConditionTrue, OMITTED, Path, parseTime } from '#machinery';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { countIndexes, firstSharedIndex } from './index-list.ts';
import { type Job, type JobStatus, UncountedTerminatedPods } from './job.ts';
import { isFinished } from './job-finished.ts';
import type { JobSpec } from './job-spec.ts';

const STATUS = Path.of('status');
const COUNTS = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const;

/** A status and its predecessor. Most rules apply only to changed fields, since old objects may violate them. */
interface Change {
  readonly spec: JobSpec;
  readonly status: JobStatus;
  readonly old: JobStatus;
  readonly at: FieldReport;
}

export function validateJobStatusUpdate(job: Job, oldJob: Job): FieldError[] {
  const at = FieldReport.on(STATUS, validateObjectMetaUpdate(job.metadata, oldJob.metadata));
  const change: Change = { spec: job.spec ?? ({} as JobSpec), status: job.status ?? {}, old: oldJob.status ?? {}, at };
  for (const count of COUNTS) at.child(count).nonNegative(change.status[count]);
  if (change.status.uncountedTerminatedPods) validateUncounted(change.status.uncountedTerminatedPods, at.child('uncountedTerminatedPods'));
  validateConditions(change);
  validateFinished(change);
  validateIndexLists(change);
  validatePodCounts(change);
  validateSuccess(change);
  validateProgress(change);
  return at.errors;
}

function validateUncounted({ succeeded = [], failed = [] }: UncountedTerminatedPods, at: FieldReport): void {
  const seen = new Set<string>();
  const check = (uids: readonly string[], field: FieldReport) =>
    uids.forEach((uid, i) => {
      if (uid === '') field.index(i).invalid(uid, 'must not be empty');
      else if (seen.has(uid)) field.index(i).duplicate(uid);
      seen.add(uid);
    });
  check(succeeded, at.child('succeeded'));
  check(failed, at.child('failed'));
}

function isTrue({ conditions }: JobStatus, type: string): boolean {
  return isConditionTrue(conditions, type);
}

function changed({ status, old }: Change, ...types: readonly string[]): boolean {
  return types.some((type) => isTrue(status, type) !== isTrue(old, type));
}

function validateConditions(change: Change): void {
  const { status, old, at } = change;
  const isComplete = isTrue(status, 'Complete');
  const addError = (detail: string) => at.child('conditions').invalid(OMITTED, detail);
  const timesChange = status.completionTime !== old.completionTime;
  if (changed(change, 'Complete', 'Failed') && isComplete && isTrue(status, 'Failed')) {
    addError('cannot set Complete=True and Failed=true conditions');
  }
  if (changed(change, 'Complete', 'FailureTarget') && isComplete && isTrue(status, 'FailureTarget')) {
    addError('cannot set Complete=True and FailureTarget=true conditions');
  }
  if (changed(change, 'Complete') || timesChange) validateCompletionTime(status, at.child('completionTime'), isComplete);
  if ((timesChange || status.startTime !== old.startTime) && status.startTime && status.completionTime) {
    const isBefore = parseTime(status.completionTime) < parseTime(status.startTime);
    if (isBefore) at.child('completionTime').invalid(status.completionTime, 'must be equal to or after `startTime`');
  }
  if (
    (changed(change, 'Failed') || status.failedIndexes !== old.failedIndexes) &&
    isTrue(status, 'Failed') &&
    !isTrue(status, 'FailureTarget')
  ) {
    addError('cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if (changed(change, 'Complete', 'SuccessCriteriaMet') && isComplete && !isTrue(status, 'SuccessCriteriaMet')) {
    addError('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
}

function validateCompletionTime({ completionTime }: JobStatus, at: FieldReport, isComplete: boolean): void {
  if (completionTime !== undefined && !isComplete) {
    at.invalid(completionTime, 'cannot set completionTime when there is no Complete=True condition');
  }
  if (completionTime === undefined && isComplete) at.required('completionTime is required for Complete jobs');
}

function validateFinished({ spec, status, old, at }: Change): void {
  if (!isFinished({ status })) return;
  const isNew = !isFinished({ status: old });
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = status;
  if ((isNew || active !== (old.active ?? 0)) && active > 0) at.child('active').invalid(active, 'active>0 is invalid for finished job');
  const neverRan = spec.suspend === true && spec.completions === 0;
  if ((isNew || startTime !== old.startTime) && !neverRan && startTime === undefined) {
    at.child('startTime').required('startTime is required for finished job');
  }
  const isCounted = (uncounted?.failed?.length ?? 0) + (uncounted?.succeeded?.length ?? 0) === 0;
  if ((isNew || !sameValue(uncounted, old.uncountedTerminatedPods)) && !isCounted) {
    at.child('uncountedTerminatedPods').invalid(goStruct(UncountedTerminatedPods, uncounted), 'must be empty for finished job');
  }
}

function validateIndexLists({ spec, status, old, at }: Change): void {
  const { completions, backoffLimitPerIndex } = spec;
  const { completedIndexes = '', failedIndexes } = status;
  const completedChange = completedIndexes !== (old.completedIndexes ?? '');
  const failedChange = failedIndexes !== old.failedIndexes;
  if (completedChange && completions !== undefined) validateList('completedIndexes', completedIndexes, { at, completions });
  if (failedChange && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    validateList('failedIndexes', failedIndexes, { at, completions });
  }
  if (completedChange && completedIndexes !== '' && spec.completionMode !== 'Indexed') {
    at.child('completedIndexes').invalid(completedIndexes, 'cannot set non-empty completedIndexes when non-indexed completion mode');
  }
  if (failedIndexes === undefined) return;
  if (failedChange && backoffLimitPerIndex === undefined) {
    at.child('failedIndexes').invalid(failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null');
  }
  if ((!failedChange && !completedChange) || completions === undefined) return;
  const shared = firstSharedIndex(completedIndexes, failedIndexes, completions);
  if (shared === undefined) return;
  at.child('failedIndexes').invalid(failedIndexes, `failedIndexes and completedIndexes overlap at index: ${shared}`);
}

interface ListContext {
  readonly at: FieldReport;
  readonly completions: number;
}

function validateList(field: 'completedIndexes' | 'failedIndexes', list: string, { at, completions }: ListContext): void {
  try {
    countIndexes(list, completions);
  } catch (error) {
    at.child(field).invalid(list, `error parsing ${field}: ${(error as Error).message}`);
  }
}

function validatePodCounts({ status, old, at }: Change): void {
  const { active = 0, ready, terminating = 0 } = status;
  const isNew = isFinished({ status }) !== isFinished({ status: old });
  if ((isNew || status.terminating !== old.terminating) && terminating > 0 && isFinished({ status })) {
    at.child('terminating').invalid(terminating, 'terminating>0 is invalid for finished job');
  }
  if ((ready !== old.ready || active !== (old.active ?? 0)) && ready !== undefined && ready > active) {
    at.child('ready').invalid(ready, 'cannot set more ready pods than active');
  }
}

function validateSuccess({ spec, status, at }: Change): void {
  const isMet = isTrue(status, 'SuccessCriteriaMet');
  const addError = (detail: string) => at.child('conditions').invalid(OMITTED, detail);
  if (isMet && isTrue(status, 'Failed')) addError('cannot set SuccessCriteriaMet=True and Failed=true conditions');
  if (isMet && isTrue(status, 'FailureTarget')) addError('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  if (spec.successPolicy && !isMet && isTrue(status, 'Complete')) {
    addError('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  }
}

/** Final states must not be left. */
function validateProgress({ spec, status, old, at }: Change): void {
  const addError = (detail: string) => at.child('conditions').invalid(OMITTED, detail);
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (isTrue(old, type) && !isTrue(status, type)) addError(`cannot disable the terminal ${type}=True condition`);
  }
  const { failed = 0, succeeded = 0, completionTime, startTime } = status;
  if (failed < (old.failed ?? 0)) at.child('failed').invalid(failed, 'cannot decrease the failed counter');
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (!mayShrink && succeeded < (old.succeeded ?? 0)) at.child('succeeded').invalid(succeeded, 'cannot decrease the succeeded counter');
  if (completionTime && old.completionTime && completionTime !== old.completionTime) {
    at.child('completionTime').invalid(completionTime, FIELD_IS_IMMUTABLE);
  }
  const isResuming = isTrue(old, 'Suspended') && isConditionFalse(status.conditions, 'Suspended');
  if (old.startTime && startTime !== old.startTime && !isResuming && !spec.suspend) {
    at.child('startTime').invalid(startTime ?? null, 'field is immutable for unsuspended job once set');
  }
  const [isMet, wasMet] = [isTrue(status, 'SuccessCriteriaMet'), isTrue(old, 'SuccessCriteriaMet')];
  if (wasMet && !isMet) addError('cannot disable the SuccessCriteriaMet=True condition');
  if (isTrue(old, 'Complete') && !wasMet && isMet) {
    addError('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  }
}
