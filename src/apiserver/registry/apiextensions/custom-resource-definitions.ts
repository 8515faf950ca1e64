import { apiextensions } from '#api';
import { CLEANUP_FINALIZER } from '../../crd/cleanup-finalizer.ts';
import type { ResourceStrategy } from '../strategy.ts';

type Definition = apiextensions.CustomResourceDefinition;

/** Deletion begins by letting nothing else come after the objects: the definition stays until they are gone. */
function beginDeletion(definition: Definition): Definition {
  const { deletionGracePeriodSeconds: _, generation = 1, finalizers = [], ...metadata } = definition.metadata;
  const kept = finalizers.includes(CLEANUP_FINALIZER) ? finalizers : [...finalizers, CLEANUP_FINALIZER];
  // Upstream deletes definitions in a way of their own, which does not count as a change of what they define.
  const marked = { ...metadata, generation: Math.max(1, generation - 1), finalizers: kept } as Definition['metadata'];
  const status = { ...definition.status, conditions: terminating(definition) } as NonNullable<Definition['status']>;
  return { ...definition, metadata: marked, status };
}

function terminating({ status, metadata }: Definition) {
  const others = status?.conditions?.filter(({ type }) => type !== 'Terminating') ?? [];
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  const lastTransitionTime = metadata.deletionTimestamp ?? '';
  return [...others, { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending', message, lastTransitionTime }];
}

export const customResourceDefinitionsStrategy: ResourceStrategy<Definition> = {
  ...apiextensions.customResourceDefinitionBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  prepareForCreate: apiextensions.prepareCustomResourceDefinitionForCreate,
  prepareForUpdate: apiextensions.prepareCustomResourceDefinitionForUpdate,
  prepareForDelete: beginDeletion,
  resetFields: { '': [['status']], status: [['spec']] },
};
