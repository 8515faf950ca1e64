import { atomic, field, type Infer, object, string } from '../../schema.ts';

export const ParamKind = atomic(
  object('io.k8s.api.admissionregistration.v1.ParamKind', 'A kind of objects with parameters.', {
    apiVersion: field(1, string, 'The API version.'),
    kind: field(2, string, 'The kind.'),
  }),
);
export type ParamKind = Infer<typeof ParamKind>;
