import { apps } from '#api';
import { deepEqual, goParseIntError } from '#machinery';
import type { ResourceStrategy } from '../strategy.ts';
import { prepareTemplate } from '../template-preparation.ts';

/** Where to roll back to: once a field, now an annotation. An empty one is none. */
function conversionError({ metadata }: apps.Deployment): string | undefined {
  const text = metadata?.annotations?.[apps.ROLLBACK_TO];
  const why = text ? goParseIntError(text) : undefined;
  return why && `failed to parse annotation[${apps.ROLLBACK_TO}]=${text} as int64: ${why}`;
}

/** As upstream writes the annotation anew from its field. */
function withPlainRollback(deployment: apps.Deployment): apps.Deployment {
  const text = deployment.metadata.annotations?.[apps.ROLLBACK_TO];
  if (text === undefined || /^(0|-?[1-9]\d*)$/.test(text)) return deployment;
  const { [apps.ROLLBACK_TO]: _, ...others } = deployment.metadata.annotations ?? {};
  const annotations = text === '' ? others : { ...others, [apps.ROLLBACK_TO]: String(BigInt(text.replace('+', ''))) };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

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
  defaults: (deployment) => withPlainRollback(apps.deploymentBehaviour.defaults?.(deployment) ?? deployment),
  conversionError,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepareTemplate,
  prepareForUpdate,
  prepareForStatusUpdate,
  resetFields: { '': [['status']], status: [['spec'], ['metadata', 'labels']] },
};
