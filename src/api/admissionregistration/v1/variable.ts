import { atomic, type Infer, object, required, string } from '../../schema.ts';

export const Variable = atomic(
  object('io.k8s.api.admissionregistration.v1.Variable', 'A value that expressions can name.', {
    name: required(1, string, 'The name, used as variables.name.'),
    expression: required(2, string, 'The CEL expression that gives the value.'),
  }),
);
export type Variable = Infer<typeof Variable>;
