import { humanDuration, isConditionTrue, labelSelectorText, Path, parseTime } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { CONTAINER_COLUMNS, containerCells, SELECTOR_COLUMN } from '../../core/v1/pod/container-cells.ts';
import { podTemplateWarnings } from '../../core/v1/pod/pod.warnings.ts';
import { podNamePrefixWarnings } from '../../core/v1/replication-controller/replication-controller.behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { defaultJob } from './job.defaults.ts';
import { Job, type JobStatus } from './job.ts';
import { validateJob, validateJobUpdate } from './job.validation.ts';
import type { JobSpec } from './job-spec.ts';
import { validateJobStatusUpdate } from './job-status.validation.ts';

const SPEC = Path.of('spec');
const MANY_COMPLETIONS = 100_000;
const MANY_PODS = 10_000;

const jobTable: TableDefinition<Job> = {
  columns: [
    NAME_COLUMN,
    column('Status', 'How far the job is.'),
    column('Completions', 'How many pods have succeeded, and how many are to.'),
    column('Duration', 'How long the job took, or has taken so far.'),
    AGE_COLUMN,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  cells: ({ metadata, spec, status = {} }, now) => [
    metadata.name,
    jobStatus(status, metadata.deletionTimestamp !== undefined),
    completionsCell(spec, status),
    durationCell(status, now),
    ageCell(metadata, now),
    ...containerCells(spec?.template),
    labelSelectorText(spec?.selector),
  ],
};

function jobStatus({ conditions }: JobStatus, isDeleted: boolean): string {
  if (isConditionTrue(conditions, 'Complete')) return 'Complete';
  if (isConditionTrue(conditions, 'Failed')) return 'Failed';
  if (isDeleted) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => isConditionTrue(conditions, type)) ?? 'Running';
}

function completionsCell({ completions, parallelism = 0 }: Partial<JobSpec> = {}, { succeeded = 0 }: JobStatus): string {
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ startTime, completionTime }: JobStatus, now: number): string {
  if (!startTime) return '';
  return humanDuration((completionTime ? parseTime(completionTime) : now) - parseTime(startTime));
}

/** Warnings about a job's spec, in a Job or a CronJob. */
export function jobSpecWarnings(spec: JobSpec | undefined, path: Path): readonly string[] {
  const { completionMode, completions = 0, parallelism = 0, template } = spec ?? {};
  const isHuge = completionMode === 'Indexed' && completions > MANY_COMPLETIONS && parallelism > MANY_PODS;
  const advice =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [...(isHuge ? [`${path}: ${advice}`] : []), ...podTemplateWarnings(template, path.child('template'))];
}

function jobWarnings({ metadata, spec }: Job, old?: Job): readonly string[] {
  if (!old) return [...podNamePrefixWarnings(metadata.name), ...jobSpecWarnings(spec, SPEC)];
  return metadata.generation === old.metadata.generation ? [] : jobSpecWarnings(spec, SPEC);
}

export const jobBehaviour: KindBehaviour<Job> = {
  kind: Job,
  defaults: defaultJob,
  validate: validateJob,
  validateUpdate: validateJobUpdate,
  validateStatusUpdate: validateJobStatusUpdate,
  warnings: jobWarnings,
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  table: jobTable,
};
