import { field, type Infer, message, string } from '../../../schema.ts';

export const PodProxyOptions = message('io.k8s.api.core.v1.PodProxyOptions', 'The options of a proxy request to a pod.', {
  path: field(1, string, 'The URL path of the request.'),
});
export type PodProxyOptions = Infer<typeof PodProxyOptions>;
