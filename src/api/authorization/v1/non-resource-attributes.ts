import { field, type Infer, object, string } from '../../schema.ts';

export const NonResourceAttributes = object(
  'io.k8s.api.authorization.v1.NonResourceAttributes',
  'A request for a path that is no resource.',
  {
    path: field(1, string, 'The path.'),
    verb: field(2, string, 'What is done, as an HTTP method in lower case.'),
  },
);
export type NonResourceAttributes = Infer<typeof NonResourceAttributes>;
