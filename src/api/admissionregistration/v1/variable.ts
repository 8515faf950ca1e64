import { atomic, type Infer, object, required, string } from '../../schema.ts';

export const Variable = atomic(
  object('io.k8s.api.admissionregistration.v1.Variable', '', {
    name: required(1, string),
    expression: required(2, string),
  }),
);
export type Variable = Infer<typeof Variable>;
