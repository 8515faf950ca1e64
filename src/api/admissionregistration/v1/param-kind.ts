import { atomic, field, type Infer, object, string } from '../../schema.ts';

export const ParamKind = atomic(
  object('io.k8s.api.admissionregistration.v1.ParamKind', '', {
    apiVersion: field(1, string),
    kind: field(2, string),
  }),
);
export type ParamKind = Infer<typeof ParamKind>;
