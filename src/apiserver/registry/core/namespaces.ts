import { core } from '#api';
import type { ResourceStrategy, SubresourceStrategy } from '../generic/strategy.ts';

const OWN_FINALIZER = 'kubernetes';

/** `finalize` updates the finalizers in the spec, which a terminating namespace waits for. */
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
    // Namespaces have no grace period, not even 0.
    const { deletionGracePeriodSeconds: _, ...metadata } = namespace.metadata;
    return { ...namespace, metadata, status: { ...namespace.status, phase: 'Terminating' } };
  },
  isDeletionHeld: ({ spec }) => (spec?.finalizers ?? []).length > 0,
  subresources: { finalize },
  returnsDeletedObject: true,
  checksOwnPreconditions: true,
};
