import { field, type Infer, int64, named, object, required, string, time } from '../../schema.ts';

export const Condition = object('io.k8s.apimachinery.pkg.apis.meta.v1.Condition', 'One finding about an object.', {
  type: required(1, string, 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  observedGeneration: field(3, int64, 'The generation of the object that the finding is about.'),
  lastTransitionTime: required(4, time, 'When the status last changed.'),
  reason: required(5, string, 'Why, as one CamelCase word.'),
  message: required(6, string, 'Why, in words.'),
});
export type Condition = Infer<typeof Condition>;
