import { apiextensions, apiextensionsV1beta1 } from '#api';
import type { StoredVersion } from '../../storage-format/storage-format.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
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

/** The version that upstream stores. */
const V1BETA1: StoredVersion = {
  apiVersion: 'apiextensions.k8s.io/v1beta1',
  schema: apiextensionsV1beta1.CustomResourceDefinition,
  toInternal: (stored) => {
    const definition = apiextensionsV1beta1.definitionToV1(stored as unknown as apiextensionsV1beta1.CustomResourceDefinition);
    return { ...definition, apiVersion: 'apiextensions.k8s.io/v1' } as unknown as KubeObject;
  },
  fromInternal: (definition) => {
    const stored = apiextensionsV1beta1.definitionFromV1(definition as unknown as Definition);
    return { ...stored, apiVersion: V1BETA1.apiVersion } as unknown as KubeObject;
  },
};

export const customResourceDefinitionsStrategy: ResourceStrategy<Definition> = {
  ...apiextensions.customResourceDefinitionBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  prepareForCreate: apiextensions.prepareCustomResourceDefinitionForCreate,
  prepareForUpdate: apiextensions.prepareCustomResourceDefinitionForUpdate,
  prepareForDelete: beginDeletion,
  checksOwnPreconditions: true,
  resetFields: { '': [['status']], status: [['spec']] },
  location: 'apiextensions.k8s.io/customresourcedefinitions',
  storedAsJson: true,
  storedVersion: 'v1beta1',
  storedForms: [V1BETA1],
};
