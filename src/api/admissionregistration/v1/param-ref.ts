import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { atomic, field, type Infer, object, pointer, string } from '../../schema.ts';

export const ParamRef = atomic(
  object('io.k8s.api.admissionregistration.v1.ParamRef', '', {
    name: field(1, string),
    namespace: field(2, string),
    selector: pointer(3, LabelSelector),
    parameterNotFoundAction: pointer(4, string),
  }),
);
export type ParamRef = Infer<typeof ParamRef>;
