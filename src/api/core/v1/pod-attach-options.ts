import { bool, field, type Infer, message, string } from '../../schema.ts';

export const PodAttachOptions = message('io.k8s.api.core.v1.PodAttachOptions', '', {
  stdin: field(1, bool),
  stdout: field(2, bool),
  stderr: field(3, bool),
  tty: field(4, bool),
  container: field(5, string),
});
export type PodAttachOptions = Infer<typeof PodAttachOptions>;
