import { field, type Infer, message, string } from '../../schema.ts';

export const PodProxyOptions = message('io.k8s.api.core.v1.PodProxyOptions', '', {
  path: field(1, string),
});
export type PodProxyOptions = Infer<typeof PodProxyOptions>;
