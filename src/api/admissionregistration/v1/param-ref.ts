import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { atomic, field, type Infer, named, object, pointer, string } from '../../schema.ts';

export const ParamRef = atomic(
  object('io.k8s.api.admissionregistration.v1.ParamRef', 'Objects with parameters.', {
    name: field(1, string, 'The object, by name.'),
    namespace: field(2, string, 'Its namespace; that of the request by default.'),
    selector: pointer(3, LabelSelector, 'The objects, by labels.'),
    parameterNotFoundAction: pointer(4, named('v1.ParameterNotFoundActionType'), 'What if there are none: Allow or Deny.'),
  }),
);
export type ParamRef = Infer<typeof ParamRef>;
