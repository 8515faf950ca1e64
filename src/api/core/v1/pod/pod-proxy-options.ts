import { field, type Infer, message, string } from '../../../schema.ts';

export const PodProxyOptions = message('io.k8s.api.core.v1.PodProxyOptions', 'What to ask of a pod.', {
  path: field(1, string, 'The path to ask for.'),
});
export type PodProxyOptions = Infer<typeof PodProxyOptions>;
