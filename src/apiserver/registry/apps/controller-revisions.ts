import { apps } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const controllerRevisionsStrategy: ResourceStrategy<apps.ControllerRevision> = apps.controllerRevisionBehaviour;
