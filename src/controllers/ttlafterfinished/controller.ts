import { batch } from '#api';
import { parseKey } from '#client';
import { isStatusReason } from '#machinery';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { timeToLive } from './reconcile.ts';

/** Deletes finished jobs when their TTL expires. */
export const ttlAfterFinishedController: Controller = {
  name: 'ttl-after-finished-controller',
  aliases: ['ttl-after-finished'],
  enabledByDefault: true,
  start: startTtl,
};

function startTtl(context: ControllerContext): KeyedController {
  const { informers, client, clock, options } = context;
  const jobs = informers.of(batch.Job);
  const sync = async (key: string): Promise<void> => {
    const cached = jobs.lister.get(parseKey(key));
    const left = cached && timeToLive(cached, clock.now());
    if (cached === undefined || left === undefined) return;
    if (left > 0) return controller.enqueueAfter(cached, left);
    // The TTL may have been changed in the meantime.
    const job = await client.of(batch.Job).get(cached.metadata);
    if ((timeToLive(job, clock.now()) ?? 1) > 0) return;
    const { uid = '' } = job.metadata;
    await client.of(batch.Job).delete(job.metadata, { propagationPolicy: 'Foreground', preconditions: { uid } });
  };
  const controller = new KeyedController(context, {
    name: 'ttl_jobs_to_delete',
    concurrency: options.concurrentTtlAfterFinishedSyncs,
    isExpected: (error) => isGone(error) || isStatusReason(error, 'Conflict'),
    objects: jobs.lister,
    sync,
  });
  const consider = (job: batch.Job) => {
    if (timeToLive(job, clock.now()) !== undefined) controller.enqueue(job);
  };
  jobs.addHandler({ add: consider, update: (_, job) => consider(job) });
  return controller;
}
