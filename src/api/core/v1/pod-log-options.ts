import { bool, field, type Infer, int64, message, pointer, string, time } from '../../schema.ts';

export const PodLogOptions = message('io.k8s.api.core.v1.PodLogOptions', '', {
  container: field(1, string),
  follow: field(2, bool),
  previous: field(3, bool),
  sinceSeconds: pointer(4, int64),
  sinceTime: pointer(5, time),
  timestamps: field(6, bool),
  tailLines: pointer(7, int64),
  limitBytes: pointer(8, int64),
  insecureSkipTLSVerifyBackend: field(9, bool),
  stream: pointer(10, string),
});
export type PodLogOptions = Infer<typeof PodLogOptions>;
