import { networking } from '#api';
import { formatTime } from '#machinery';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { type CidrAction, FINALIZER, reconcileServiceCidr } from './reconcile.ts';

type ServiceCidr = networking.ServiceCIDR;

const NAME = 'service-cidr-controller';

/** Sets the Ready condition of ServiceCIDRs, and protects those in use. */
export const serviceCidrController: Controller = {
  name: NAME,
  aliases: ['service-cidr'],
  enabledByDefault: true,
  start(context) {
    const { informers } = context;
    const ranges = informers.of(networking.ServiceCIDR);
    const addresses = informers.of(networking.IPAddress);
    const controller = new KeyedController(context, {
      name: 'service_cidr',
      objects: ranges.lister,
      async sync(key) {
        const range = ranges.lister.get({ name: key });
        if (range === undefined) return;
        const others = ranges.lister.list().filter(({ metadata }) => metadata.name !== key);
        const addressNames = addresses.lister.list().map(({ metadata }) => metadata.name);
        const action = reconcileServiceCidr(range, { others, addresses: addressNames, now: context.clock.now() });
        if (action?.type === 'wait') controller.enqueueAfter(range, action.ms);
        else if (action !== undefined) await perform(action, range, context);
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

async function perform(
  action: Exclude<CidrAction, { type: 'wait' }>,
  { metadata: { name } }: ServiceCidr,
  { client, clock }: ControllerContext,
): Promise<void> {
  const ranges = client.of(networking.ServiceCIDR);
  switch (action.type) {
    case 'add finalizer':
      await ranges.patch({ name }, { metadata: { finalizers: [FINALIZER] } }, { type: 'strategic' });
      return;
    case 'remove finalizer':
      await ranges.patch({ name }, { metadata: { '$deleteFromPrimitiveList/finalizers': [FINALIZER] } }, { type: 'strategic' });
      return;
    case 'set condition': {
      const condition = { ...action.condition, lastTransitionTime: formatTime(clock.now()) };
      const patch = { metadata: { name }, status: { conditions: [condition] } };
      await ranges.apply(patch, { subresource: 'status', fieldManager: NAME, force: true });
    }
  }
}
