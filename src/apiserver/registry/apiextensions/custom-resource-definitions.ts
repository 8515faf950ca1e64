import { apiextensions } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';
import { CLEANUP_FINALIZER } from './cleanup-finalizer.ts';

type Definition = apiextensions.CustomResourceDefinition;

/** Deletion adds the cleanup finalizer: the definition stays until its objects are gone. */
function beginDeletion(definition: Definition): Definition {
  const { deletionGracePeriodSeconds: _, generation = 1, finalizers = [], ...metadata } = definition.metadata;
  const withCleanup = finalizers.includes(CLEANUP_FINALIZER) ? finalizers : [...finalizers, CLEANUP_FINALIZER];
  // Upstream's deletion of definitions does not increase the generation.
  const deletionMetadata = { ...metadata, generation: Math.max(1, generation - 1), finalizers: withCleanup } as Definition['metadata'];
  const status = { ...definition.status, conditions: terminating(definition) } as NonNullable<Definition['status']>;
  return { ...definition, metadata: deletionMetadata, status };
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
  location: 'apiextensions.k8s.io/customresourcedefinitions',
  storedAsJson: true,
};
