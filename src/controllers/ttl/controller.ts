import { core } from '#api';
import type { Controller } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { ttlSeconds, ttlStep } from './reconcile.ts';

const TTL = 'node.alpha.kubernetes.io/ttl';

/** Annotates nodes with how long kubelets may cache secrets and config maps. */
export const ttlController: Controller = {
  name: 'ttl-controller',
  aliases: ['ttl'],
  enabledByDefault: true,
  start(context) {
    const nodes = context.informers.of(core.Node);
    let step = 0;
    const controller = new KeyedController(context, {
      name: 'ttlcontroller',
      concurrency: 5,
      isExpected: isGone,
      objects: nodes.lister,
      async sync(name) {
        const node = nodes.lister.get({ name });
        const desired = String(ttlSeconds(step));
        if (node === undefined || node.metadata.annotations?.[TTL] === desired) return;
        await context.client.of(core.Node).patch({ name }, { metadata: { annotations: { [TTL]: desired } } });
      },
    });
    const resized = () => {
      const before = step;
      step = ttlStep(nodes.lister.size, step);
      if (step !== before) for (const node of nodes.lister.list()) controller.enqueue(node);
    };
    nodes.addHandler({
      add: (node) => {
        resized();
        controller.enqueue(node);
      },
      update: (_, node) => controller.enqueue(node),
      delete: resized,
    });
    return controller;
  },
};
