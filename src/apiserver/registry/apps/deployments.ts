import { apps } from '#api';
import { deepEqual } from '#machinery';
import type { ResourceStrategy } from '../strategy.ts';
import { prepareTemplate } from '../template-preparation.ts';

/** Annotations of a deployment are handed on to its replica sets, so a change of them is something to observe too. */
function prepareForUpdate(deployment: apps.Deployment, old: apps.Deployment): apps.Deployment {
  const prepared = prepareTemplate(deployment);
  if (deepEqual(prepared.metadata.annotations, old.metadata.annotations)) return prepared;
  return { ...prepared, metadata: { ...prepared.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

function prepareForStatusUpdate(deployment: apps.Deployment, old: apps.Deployment): apps.Deployment {
  const { labels: _, ...metadata } = deployment.metadata;
  const { labels } = old.metadata;
  return { ...deployment, metadata: { ...metadata, ...(labels && { labels }) } };
}

export const deploymentsStrategy: ResourceStrategy<apps.Deployment> = {
  ...apps.deploymentBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepareTemplate,
  prepareForUpdate,
  prepareForStatusUpdate,
  resetFields: { '': [['status']], status: [['spec'], ['metadata', 'labels']] },
};
