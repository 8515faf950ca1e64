import { describe, expect, test } from 'vitest';
import { cronJobBehaviour } from './cron-job.behaviour.ts';
import type { CronJob } from './cron-job.ts';
import { jobBehaviour } from './job.behaviour.ts';
import { defaultJob } from './job.defaults.ts';
import type { Job, JobStatus } from './job.ts';
import { validateJob, validateJobUpdate } from './job.validation.ts';
import type { JobSpec } from './job-spec.ts';
import { validateJobStatusUpdate } from './job-status.validation.ts';

const NOW = Date.parse('2024-01-01T00:10:00Z');
const labels = { 'controller-uid': 'u', 'job-name': 'a', 'batch.kubernetes.io/controller-uid': 'u', 'batch.kubernetes.io/job-name': 'a' };
const template = { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'app:1' }] } };
const metadata = { name: 'a', namespace: 'ns', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' };
const job = (spec: Partial<JobSpec> = {}, status: JobStatus = {}): Job =>
  defaultJob({ metadata, spec: { selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } }, template, ...spec }, status });
const errors = (spec: Partial<JobSpec>) => validateJob(job(spec)).map(String);

test('a job defaults to one completion and a parallelism of one', () => {
  expect(job().spec).toMatchObject({
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    manualSelector: false,
  });
  expect(job({ parallelism: 3 }).spec?.completions).toBeUndefined();
  expect(job({ backoffLimitPerIndex: 1 }).spec?.backoffLimit).toBe(2 ** 31 - 1);
  expect(job().metadata.labels).toEqual(labels);
});

describe('validation of a job', () => {
  test.each<[string, Partial<JobSpec>, readonly string[]]>([
    ['nothing unusual', {}, []],
    [
      'pods that restart for ever',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Always' } } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'indexes without a number',
      { completionMode: 'Indexed', parallelism: 1 },
      ['spec.completions: Required value: when completion mode is Indexed'],
    ],
    [
      'limits by index without indexes',
      { backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
      [
        'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
        'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
      ],
    ],
    [
      'a rule about neither exit codes nor conditions',
      { podFailurePolicy: { rules: [{ action: 'Retry' }] } },
      [
        'spec.podFailurePolicy.rules[0].action: Unsupported value: "Retry": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
        'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
      ],
    ],
    [
      'exit codes out of order',
      { podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [2, 1, 0] } }] } },
      [
        'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Invalid value: 0: must not be 0 for the In operator',
        'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1,0]: must be ordered',
      ],
    ],
    [
      'more successes than indexes',
      {
        completionMode: 'Indexed',
        completions: 3,
        successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 3 }, { succeededIndexes: '5' }] },
      },
      [
        'spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
        'spec.successPolicy.rules[1].succeededIndexes: Invalid value: "5": error parsing succeededIndexes: too large index: "5"',
      ],
    ],
    [
      'labels of somebody else',
      { template: { ...template, metadata: { labels: { ...labels, 'job-name': 'b' } } } },
      [
        // A map is printed in the order of its keys.
        'spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"a","controller-uid":"u","job-name":"b"}: must be \'a\'',
      ],
    ],
    [
      'a manager without a domain',
      { managedBy: 'x' },
      ['spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
  ])('%s', (_, spec, expected) => {
    expect(errors(spec)).toEqual(expected);
  });
});

describe('an update of a job', () => {
  const other = { ...template, spec: { ...template.spec, nodeSelector: { a: 'b' } } };
  const resized = {
    ...template,
    spec: { ...template.spec, containers: [{ name: 'c', image: 'app:1', resources: { limits: { cpu: '1' } } }] },
  };
  const reimaged = { ...template, spec: { ...template.spec, containers: [{ name: 'c', image: 'app:2' }] } };
  const fields = (before: Job, after: Job) => validateJobUpdate(after, before).map(({ field }) => field);

  test('keeps the template, unless the job is suspended and idle', () => {
    expect(fields(job(), job({ template: other }))).toEqual(['spec.template']);
    const suspended = job({ suspend: true });
    expect(fields(suspended, job({ suspend: true, template: other }))).toEqual([]);
    expect(fields(suspended, job({ suspend: true, template: resized }))).toEqual([]);
    expect(fields(suspended, job({ suspend: true, template: reimaged }))).toEqual(['spec.template.spec']);
    expect(fields(job({ suspend: true }, { active: 1 }), job({ suspend: true, template: other }))).toEqual(['spec.template']);
  });

  test('keeps completions, but for indexed jobs that change parallelism with them', () => {
    expect(validateJobUpdate(job({ completions: 5 }), job()).map(String)).toEqual([
      'spec.completions: Invalid value: 5: field is immutable',
    ]);
    const indexed = (n: number, parallelism = n) => job({ completionMode: 'Indexed', completions: n, parallelism });
    expect(fields(indexed(2), indexed(3))).toEqual([]);
    expect(validateJobUpdate(indexed(3, 1), indexed(2)).map(String)).toEqual([
      'spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism',
    ]);
  });
});

describe('a status of a job', () => {
  const at = '2024-01-01T00:00:00Z';
  const conditions = (...types: readonly string[]) => types.map((type) => ({ type, status: 'True' }));
  const check = (before: JobStatus, after: JobStatus, spec: Partial<JobSpec> = {}) =>
    validateJobStatusUpdate(job(spec, after), job(spec, before)).map(String);

  test('becomes complete with a start, an end and its criteria met', () => {
    expect(
      check(
        { startTime: at },
        { startTime: at, completionTime: at, conditions: conditions('SuccessCriteriaMet', 'Complete'), succeeded: 1 },
      ),
    ).toEqual([]);
    expect(check({}, { conditions: conditions('Complete') })).toEqual([
      'status.completionTime: Required value: completionTime is required for Complete jobs',
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      'status.startTime: Required value: startTime is required for finished job',
    ]);
  });

  test('does not go back', () => {
    const done: JobStatus = { startTime: at, failed: 2, conditions: conditions('FailureTarget', 'Failed') };
    expect(check(done, { startTime: at, failed: 1 })).toEqual([
      'status.conditions: Invalid value: cannot disable the terminal Failed=True condition',
      'status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition',
      'status.failed: Invalid value: 1: cannot decrease the failed counter',
    ]);
  });

  test('counts each index once', () => {
    const spec = { completionMode: 'Indexed', completions: 5, parallelism: 5, backoffLimitPerIndex: 1 };
    expect(check({}, { completedIndexes: '0-2', failedIndexes: '2,9' }, spec)).toEqual([
      'status.failedIndexes: Invalid value: "2,9": error parsing failedIndexes: too large index: "9"',
      'status.failedIndexes: Invalid value: "2,9": failedIndexes and completedIndexes overlap at index: 2',
    ]);
  });
});

test('the table of jobs shows completions', () => {
  const cells = (status: JobStatus, spec: Partial<JobSpec> = {}) => jobBehaviour.table?.cells(job(spec, status), NOW).slice(1, 4);
  expect(cells({})).toEqual(['Running', '0/1', '']);
  expect(cells({ startTime: '2024-01-01T00:05:00Z' }, { parallelism: 3 })).toEqual(['Running', '0/1 of 3', '5m']);
  const done = {
    conditions: [{ type: 'Complete', status: 'True' }],
    succeeded: 1,
    startTime: '2024-01-01T00:00:00Z',
    completionTime: '2024-01-01T00:00:07Z',
  };
  expect(cells(done)).toEqual(['Complete', '1/1', '7s']);
});

describe('a cron job', () => {
  const cron = (spec: object): CronJob => {
    const object = { metadata, spec: { schedule: '* * * * *', jobTemplate: { spec: { template } }, ...spec } } as unknown as CronJob;
    return cronJobBehaviour.defaults?.(object) ?? object;
  };
  const refused = (spec: object) => cronJobBehaviour.validate?.(cron(spec)).map(String);

  test('leaves the defaults of its jobs to them', () => {
    const { spec } = cron({});
    expect(spec).toMatchObject({ concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
    expect(spec?.jobTemplate.spec?.completions).toBeUndefined();
    expect(spec?.jobTemplate.spec?.template.spec?.dnsPolicy).toBe('ClusterFirst');
  });

  test.each<[object, readonly string[]]>([
    [{}, []],
    [{ timeZone: 'Europe/Berlin' }, []],
    [{ schedule: '' }, ['spec.schedule: Required value']],
    [{ timeZone: 'Mars/Olympus' }, ['spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus']],
    [{ timeZone: 'europe/berlin' }, ['spec.timeZone: Invalid value: "europe/berlin": unknown time zone europe/berlin']],
    [
      { timeZone: 'Local' },
      ['spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'],
    ],
    [
      { schedule: 'TZ=UTC 0 0 * * *' },
      ['spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
    ],
    [
      { jobTemplate: { spec: { template, manualSelector: true } } },
      ['spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"'],
    ],
  ])('with %j is told %j', (spec, expected) => {
    expect(refused(spec)).toEqual(expected);
  });

  test('leaves room in its name for those of its jobs', () => {
    const long = { ...cron({}), metadata: { ...metadata, name: 'x'.repeat(53) } };
    expect(cronJobBehaviour.validate?.(long).map(({ detail }) => detail)).toEqual(['must be no more than 52 characters']);
  });
});
