import { bool, field, type Infer, int64, message, pointer, string, time } from '../../../schema.ts';

export const PodLogOptions = message('io.k8s.api.core.v1.PodLogOptions', 'What to read of a log.', {
  container: field(1, string, 'The container; needed when there are several.'),
  follow: field(2, bool, 'If true, new lines of the log are streamed.'),
  previous: field(3, bool, 'If true, the log of the container before its last restart.'),
  sinceSeconds: pointer(4, int64, 'How far back, in seconds.'),
  sinceTime: pointer(5, time, 'From when on.'),
  timestamps: field(6, bool, 'If true, each line begins with its time.'),
  tailLines: pointer(7, int64, 'How many lines from the end.'),
  limitBytes: pointer(8, int64, 'How many bytes at most.'),
  insecureSkipTLSVerifyBackend: field(9, bool, "If true, the kubelet's certificate is not checked."),
  stream: pointer(10, string, 'Which output: All, Stdout or Stderr.'),
});
export type PodLogOptions = Infer<typeof PodLogOptions>;
