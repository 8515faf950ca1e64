import { bool, field, type Infer, message, string } from '../../../schema.ts';

export const PodAttachOptions = message('io.k8s.api.core.v1.PodAttachOptions', 'How to attach to a container.', {
  stdin: field(1, bool, 'Whether to send standard input.'),
  stdout: field(2, bool, 'Whether to receive standard output.'),
  stderr: field(3, bool, 'Whether to receive standard error.'),
  tty: field(4, bool, 'Whether the container has a terminal.'),
  container: field(5, string, 'The container; needed when there are several.'),
});
export type PodAttachOptions = Infer<typeof PodAttachOptions>;
