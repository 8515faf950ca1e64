import { always, bool, field, type Infer, listOf, message, string } from '../../schema.ts';

export const PodExecOptions = message('io.k8s.api.core.v1.PodExecOptions', '', {
  stdin: field(1, bool),
  stdout: field(2, bool),
  stderr: field(3, bool),
  tty: field(4, bool),
  container: field(5, string),
  command: always(6, listOf(string)),
});
export type PodExecOptions = Infer<typeof PodExecOptions>;
