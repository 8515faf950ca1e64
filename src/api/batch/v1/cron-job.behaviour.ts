import { labelSelectorText, Path } from '#machinery';
import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { CONTAINER_COLUMNS, containerCells, SELECTOR_COLUMN } from '../../core/v1/pod/container-cells.ts';
import { podNamePrefixWarnings } from '../../core/v1/replication-controller/replication-controller.behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, sinceCell } from '../../table-cells.ts';
import { defaultCronJob } from './cron-job.defaults.ts';
import { CronJob } from './cron-job.ts';
import { validateCronJob, validateCronJobUpdate } from './cron-job.validation.ts';
import { jobSpecWarnings } from './job.behaviour.ts';

const JOB_SPEC = Path.of('spec', 'jobTemplate', 'spec');
const TZ_WARNING =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

const cronJobTable: TableDefinition<CronJob> = {
  columns: [
    NAME_COLUMN,
    column('Schedule', 'When jobs are started, in cron format.'),
    column('Timezone', 'The time zone of the schedule.'),
    column('Suspend', 'Whether no more jobs are started.', { type: 'boolean' }),
    column('Active', 'How many jobs are running.', { type: 'integer' }),
    column('Last Schedule', 'When a job was last started.'),
    AGE_COLUMN,
    ...CONTAINER_COLUMNS,
    SELECTOR_COLUMN,
  ],
  cells: ({ metadata, spec, status = {} }, now) => [
    metadata.name,
    spec?.schedule ?? '',
    spec?.timeZone ?? '<none>',
    suspendCell(spec?.suspend),
    status.active?.length ?? 0,
    status.lastScheduleTime ? sinceCell(status.lastScheduleTime, now) : '<none>',
    ageCell(metadata, now),
    ...containerCells(spec?.jobTemplate?.spec?.template),
    labelSelectorText(spec?.jobTemplate?.spec?.selector),
  ],
};

function suspendCell(suspend: boolean | undefined): string {
  if (suspend === undefined) return '<unset>';
  return suspend ? 'True' : 'False';
}

function cronJobWarnings({ metadata, spec }: CronJob, old?: CronJob): readonly string[] {
  const jobWarnings = () => jobSpecWarnings(spec?.jobTemplate?.spec, JOB_SPEC);
  if (!old) return [...podNamePrefixWarnings(metadata.name), ...jobWarnings()];
  const isSame = metadata.generation === old.metadata.generation;
  return [...(isSame ? [] : jobWarnings()), ...(spec?.schedule?.includes('TZ') ? [TZ_WARNING] : [])];
}

export const cronJobBehaviour: KindBehaviour<CronJob> = {
  kind: CronJob,
  defaults: defaultCronJob,
  validate: validateCronJob,
  validateUpdate: validateCronJobUpdate,
  validateStatusUpdate: () => [],
  warnings: cronJobWarnings,
  table: cronJobTable,
};
