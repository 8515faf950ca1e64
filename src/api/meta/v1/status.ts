import { always, field, type Infer, int32, listOf, message, named, object, pointer, string } from '../../schema.ts';
import { ListMeta } from './list-meta.ts';

export const StatusCause = object('io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause', 'One cause of a failure.', {
  reason: field(1, named('v1.CauseType'), 'Why, as one word for programs.'),
  message: field(2, string, 'Why, in words.'),
  field: field(3, string, 'The field that is the cause, such as spec.replicas.'),
});
export type StatusCause = Infer<typeof StatusCause>;

export const StatusDetails = object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails',
  'Which object a failure is about, and what exactly.',
  {
    name: field(1, string, 'The name of the object.'),
    group: field(2, string, 'The group of the resource.'),
    kind: field(3, string, 'The kind or resource.'),
    uid: field(6, named('types.UID'), 'The id of the object.'),
    causes: field(4, listOf(StatusCause), 'What exactly, one by one.'),
    retryAfterSeconds: field(5, int32, 'How long to wait before trying again.'),
  },
);
export type StatusDetails = Infer<typeof StatusDetails>;

export const Status = message(
  'io.k8s.apimachinery.pkg.apis.meta.v1.Status',
  'The outcome of a request that does not answer with an object.',
  {
    metadata: always(1, ListMeta, "Standard object's metadata."),
    status: field(2, string, 'Success or Failure.'),
    message: field(3, string, 'What happened, in words.'),
    reason: field(4, named('v1.StatusReason'), 'Why it failed, as one word for programs.'),
    details: pointer(5, StatusDetails, 'Which object, and what exactly.'),
    code: field(6, int32, 'The HTTP status code.'),
  },
);
export type Status = Infer<typeof Status>;
