import { bool, field, type Infer, int64, listOf, message, named, object, pointer, string } from '../../schema.ts';

export const Preconditions = object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions',
  'What must be true for an object to be deleted.',
  {
    uid: pointer(1, named('types.UID'), 'The id that it must have.'),
    resourceVersion: pointer(2, string, 'The version that it must have.'),
  },
);
export type Preconditions = Infer<typeof Preconditions>;

export const DeleteOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', 'Options of a deletion.', {
  gracePeriodSeconds: pointer(1, int64, 'How long the object has to end; 0 deletes at once.'),
  preconditions: pointer(2, Preconditions, 'What must be true for the object to be deleted.'),
  orphanDependents: pointer(3, bool, 'Deprecated: use propagationPolicy.'),
  propagationPolicy: pointer(
    4,
    named('v1.DeletionPropagation'),
    'What becomes of what belongs to the object: Orphan, Background or Foreground.',
  ),
  dryRun: field(5, listOf(string), 'All: everything is done but the deletion.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: pointer(
    6,
    bool,
    'If true, an object that cannot be read is deleted without cleaning up.',
  ),
});
export type DeleteOptions = Infer<typeof DeleteOptions>;
