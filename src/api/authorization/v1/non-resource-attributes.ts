import { field, type Infer, object, string } from '../../schema.ts';

export const NonResourceAttributes = object('io.k8s.api.authorization.v1.NonResourceAttributes', '', {
  path: field(1, string),
  verb: field(2, string),
});
export type NonResourceAttributes = Infer<typeof NonResourceAttributes>;
