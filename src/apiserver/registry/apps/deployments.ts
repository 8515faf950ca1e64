import { apps } from '#api';
import { deepEqual, goParseIntError } from '#machinery';
import { APPS_SCALE } from '../generic/scale-fields.ts';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';
import { prepareTemplate } from '../generic/template-preparation.ts';

/** `rollbackTo` was a field; it is an annotation now. Empty means none. */
function conversionError({ metadata }: apps.Deployment): string | undefined {
  const text = metadata?.annotations?.[apps.ROLLBACK_TO];
  const detail = text ? goParseIntError(text) : undefined;
  return detail && `failed to parse annotation[${apps.ROLLBACK_TO}]=${text} as int64: ${detail}`;
}

/** Upstream rewrites the annotation from its field. */
function withPlainRollback(deployment: apps.Deployment): apps.Deployment {
  const text = deployment.metadata.annotations?.[apps.ROLLBACK_TO];
  if (text === undefined || /^(0|-?[1-9]\d*)$/.test(text)) return deployment;
  const { [apps.ROLLBACK_TO]: _, ...others } = deployment.metadata.annotations ?? {};
  const annotations = text === '' ? others : { ...others, [apps.ROLLBACK_TO]: String(BigInt(text.replace('+', ''))) };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

/** A deployment's annotations are copied to its replica sets, so changing them increases the generation. */
function prepareForUpdate(deployment: apps.Deployment, old: apps.Deployment, scope: RequestScope): apps.Deployment {
  const prepared = prepareTemplate(deployment, scope);
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
  internalAnnotations: [apps.ROLLBACK_TO],
  scale: APPS_SCALE,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: prepareTemplate,
  prepareForUpdate,
  prepareForStatusUpdate,
  resetFields: { '': [['status']], status: [['spec'], ['metadata', 'labels']] },
};
