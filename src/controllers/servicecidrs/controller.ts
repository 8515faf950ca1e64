import { networking } from '#api';
import { formatTime } from '#machinery';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { type CidrAction, FINALIZER, reconcileServiceCidr } from './reconcile.ts';

type ServiceCidr = networking.ServiceCIDR;

/** Tells whether ranges of service addresses can be used, and keeps those that are in use. */
export const serviceCidrController: Controller = {
  name: 'service-cidr-controller',
  aliases: ['service-cidr'],
  enabledByDefault: true,
  start(context) {
    const { informers } = context;
    const ranges = informers.of(networking.ServiceCIDR);
    const addresses = informers.of(networking.IPAddress);
    const controller = new KeyedController(context, {
      name: 'service_cidr',
      async sync(key) {
        const range = ranges.lister.get({ name: key });
        if (range === undefined) return;
        const others = ranges.lister.list().filter(({ metadata }) => metadata.name !== key);
        const taken = addresses.lister.list().map(({ metadata }) => metadata.name);
        const action = reconcileServiceCidr(range, others, taken);
        if (action !== undefined) await perform(action, range, context);
      },
    });
    const wakeDeleted = () => {
      for (const range of ranges.lister.list()) if (range.metadata.deletionTimestamp !== undefined) controller.enqueue(range);
    };
    ranges.addHandler({
      add: (range) => controller.enqueue(range),
      update: (_, range) => {
        controller.enqueue(range);
        wakeDeleted();
      },
      delete: wakeDeleted,
    });
    addresses.addHandler({ delete: wakeDeleted });
    return controller;
  },
};

async function perform(action: CidrAction, range: ServiceCidr, { client, clock }: ControllerContext): Promise<void> {
  const ranges = client.of(networking.ServiceCIDR);
  const { finalizers = [] } = range.metadata;
  switch (action.type) {
    case 'add finalizer':
      await ranges.update({ ...range, metadata: { ...range.metadata, finalizers: [...finalizers, FINALIZER] } });
      return;
    case 'remove finalizer':
      await ranges.update({ ...range, metadata: { ...range.metadata, finalizers: finalizers.filter((name) => name !== FINALIZER) } });
      return;
    case 'set condition': {
      const condition = { ...action.condition, lastTransitionTime: formatTime(clock.now()) };
      await ranges.updateStatus({ ...range, status: { ...range.status, conditions: [condition] } });
    }
  }
}
