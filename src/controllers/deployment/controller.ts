import { apps } from '#api';
import type { Controller } from '../runtime/controller.ts';
import { DeploymentController } from './deployment-controller.ts';

/** Rolls out deployments: a replica set for each template, replaced gradually or at once. */
export const deploymentController: Controller = {
  name: 'deployment-controller',
  aliases: ['deployment'],
  enabledByDefault: true,
  start: (context) => new DeploymentController(context, context.informers.of(apps.Deployment)),
};
