import { field, type Infer, message, string } from '../../schema.ts';

export const NodeProxyOptions = message('io.k8s.api.core.v1.NodeProxyOptions', '', {
  path: field(1, string),
});
export type NodeProxyOptions = Infer<typeof NodeProxyOptions>;
