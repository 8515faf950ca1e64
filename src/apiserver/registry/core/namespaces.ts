import { core } from '#api';
import type { ResourceStrategy, SubresourceStrategy } from '../strategy.ts';

const OWN_FINALIZER = 'kubernetes';

/** What a deleted namespace waits for: the finalizers of its spec, which have a subresource of their own. */
const finalize: SubresourceStrategy<core.Namespace> = {
  verbs: ['update'],
  prepareForUpdate: (namespace, old) => ({ ...namespace, ...(old.status && { status: old.status }) }),
  validateUpdate: core.validateNamespaceFinalizeUpdate,
};

export const namespacesStrategy: ResourceStrategy<core.Namespace> = {
  ...core.namespaceBehaviour,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  hasStatus: true,
  prepareForCreate: (namespace) => {
    const finalizers = namespace.spec?.finalizers ?? [];
    const all = finalizers.includes(OWN_FINALIZER) ? finalizers : [...finalizers, OWN_FINALIZER];
    return core.labelWithName({ ...namespace, spec: { ...namespace.spec, finalizers: all }, status: { phase: 'Active' } });
  },
  prepareForUpdate: (namespace, old) => {
    const { finalizers: _, ...spec } = namespace.spec ?? {};
    return core.labelWithName({ ...namespace, spec: { ...spec, ...(old.spec?.finalizers && { finalizers: old.spec.finalizers }) } });
  },
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: { '': [['status']], status: [['spec']], finalize: [['status']] },
  prepareForDelete: (namespace) => {
    // A namespace has no grace period, not even one of no length.
    const { deletionGracePeriodSeconds: _, ...metadata } = namespace.metadata;
    return { ...namespace, metadata, status: { ...namespace.status, phase: 'Terminating' } };
  },
  isDeletionHeld: ({ spec }) => (spec?.finalizers ?? []).length > 0,
  subresources: { finalize },
};
