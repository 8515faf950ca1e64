import { always, bool, field, type Infer, listOf, message, string } from '../../../schema.ts';

export const PodExecOptions = message('io.k8s.api.core.v1.PodExecOptions', 'How to run a command in a container.', {
  stdin: field(1, bool, 'Whether to send standard input.'),
  stdout: field(2, bool, 'Whether to receive standard output.'),
  stderr: field(3, bool, 'Whether to receive standard error.'),
  tty: field(4, bool, 'Whether the command gets a terminal.'),
  container: field(5, string, 'The container; needed when there are several.'),
  command: always(6, listOf(string), 'The command and its arguments.'),
});
export type PodExecOptions = Infer<typeof PodExecOptions>;
