import type { Controller } from '../runtime/controller.ts';
import { JobController } from './job-controller.ts';

/** Runs the pods of jobs until enough of them have succeeded, or too many have failed. */
export const jobController: Controller = {
  name: 'job-controller',
  aliases: ['job'],
  enabledByDefault: true,
  start: (context) => new JobController(context),
};
