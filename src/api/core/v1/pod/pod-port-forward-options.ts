import { field, type Infer, int32, listOf, message } from '../../../schema.ts';

export const PodPortForwardOptions = message('io.k8s.api.core.v1.PodPortForwardOptions', 'What to forward to a pod.', {
  ports: field(1, listOf(int32), 'The ports; needed for WebSocket.'),
});
export type PodPortForwardOptions = Infer<typeof PodPortForwardOptions>;
