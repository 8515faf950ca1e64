import { bool, field, type Infer, int64, listOf, message, object, pointer, string } from '../../schema.ts';

export const Preconditions = object('io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions', '', {
  uid: pointer(1, string),
  resourceVersion: pointer(2, string),
});
export type Preconditions = Infer<typeof Preconditions>;

export const DeleteOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', '', {
  gracePeriodSeconds: pointer(1, int64),
  preconditions: pointer(2, Preconditions),
  orphanDependents: pointer(3, bool),
  propagationPolicy: pointer(4, string),
  dryRun: field(5, listOf(string)),
  ignoreStoreReadErrorWithClusterBreakingPotential: pointer(6, bool),
});
export type DeleteOptions = Infer<typeof DeleteOptions>;
