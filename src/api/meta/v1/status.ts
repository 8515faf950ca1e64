import { always, field, type Infer, int32, listOf, message, object, pointer, string } from '../../schema.ts';
import { ListMeta } from './list-meta.ts';

export const StatusCause = object('io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause', '', {
  reason: field(1, string),
  message: field(2, string),
  field: field(3, string),
});
export type StatusCause = Infer<typeof StatusCause>;

export const StatusDetails = object('io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails', '', {
  name: field(1, string),
  group: field(2, string),
  kind: field(3, string),
  uid: field(6, string),
  causes: field(4, listOf(StatusCause)),
  retryAfterSeconds: field(5, int32),
});
export type StatusDetails = Infer<typeof StatusDetails>;

export const Status = message('io.k8s.apimachinery.pkg.apis.meta.v1.Status', '', {
  metadata: always(1, ListMeta),
  status: field(2, string),
  message: field(3, string),
  reason: field(4, string),
  details: pointer(5, StatusDetails),
  code: field(6, int32),
});
export type Status = Infer<typeof Status>;
