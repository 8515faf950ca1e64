import { atomic, field, type Infer, named, object, string } from '../../../schema.ts';

export const ObjectReference = atomic(
  object(
    'io.k8s.api.core.v1.ObjectReference',
    'Points at another object. Which of its parts are used depends on the field that holds it.',
    {
      kind: field(1, string, 'The kind of the object.'),
      namespace: field(2, string, 'The namespace of the object.'),
      name: field(3, string, 'The name of the object.'),
      uid: field(4, named('types.UID'), 'The unique id of the object.'),
      apiVersion: field(5, string, 'The API version of the object.'),
      resourceVersion: field(6, string, 'The version of the object that is meant, if a certain one is.'),
      fieldPath: field(7, string, 'The part of the object that is meant, such as spec.containers{web}.'),
    },
  ),
);
export type ObjectReference = Infer<typeof ObjectReference>;
