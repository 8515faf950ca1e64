import { DeleteOptions } from '../../meta/v1/delete-options.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, message, pointer } from '../../schema.ts';

export const Eviction = message('io.k8s.api.policy.v1.Eviction', 'Asks to evict a pod, which its disruption budget may refuse.', {
  metadata: always(1, ObjectMeta, "Standard object's metadata."),
  deleteOptions: pointer(2, DeleteOptions, 'How the pod is deleted.'),
});
export type Eviction = Infer<typeof Eviction>;
