import type { Controller } from '../runtime/controller.ts';
import { NodeLifecycleController } from './node-lifecycle-controller.ts';

/** Finds out which nodes are lost, and marks them so that nothing is scheduled to them and what runs there is moved. */
export const nodeLifecycleController: Controller = {
  name: 'node-lifecycle-controller',
  aliases: ['nodelifecycle'],
  enabledByDefault: true,
  start: (context) => new NodeLifecycleController(context),
};
