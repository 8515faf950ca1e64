import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { controllerRevisionsStrategy } from './controller-revisions.ts';
import { daemonSetsStrategy } from './daemon-sets.ts';
import { deploymentsStrategy } from './deployments.ts';
import { replicaSetsStrategy } from './replica-sets.ts';
import { statefulSetsStrategy } from './stateful-sets.ts';

export const APPS: RegistryGroup = registryGroup([
  controllerRevisionsStrategy,
  daemonSetsStrategy,
  deploymentsStrategy,
  replicaSetsStrategy,
  statefulSetsStrategy,
]);
