import { apps } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

export const controllerRevisionsStrategy: ResourceStrategy<apps.ControllerRevision> = apps.controllerRevisionBehaviour;
