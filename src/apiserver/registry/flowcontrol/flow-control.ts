import { flowcontrol } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** Status updates of flow control objects do not change metadata. */
function withOldMetadata<T extends { readonly metadata: { readonly managedFields?: unknown; readonly resourceVersion?: string } }>(
  object: T,
  old: T,
): T {
  const { managedFields, resourceVersion } = object.metadata;
  const { managedFields: _, ...metadata } = old.metadata;
  const preserved = {
    ...metadata,
    ...(managedFields !== undefined && { managedFields }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return { ...object, metadata: preserved };
}

export const flowSchemasStrategy: ResourceStrategy<flowcontrol.FlowSchema> = {
  ...flowcontrol.flowSchemaBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  prepareForStatusUpdate: withOldMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};

export const priorityLevelConfigurationsStrategy: ResourceStrategy<flowcontrol.PriorityLevelConfiguration> = {
  ...flowcontrol.priorityLevelConfigurationBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  prepareForStatusUpdate: withOldMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};
