import type { JobCondition, JobStatus } from './job.ts';

/** The condition that ended the job: `Complete` or `Failed`. */
export function finishedCondition(status: JobStatus | undefined): JobCondition | undefined {
  return status?.conditions?.find(({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True');
}

export function isFinished({ status }: { readonly status?: JobStatus }): boolean {
  return finishedCondition(status) !== undefined;
}
