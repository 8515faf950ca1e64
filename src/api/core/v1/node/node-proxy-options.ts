import { field, type Infer, message, string } from '../../../schema.ts';

export const NodeProxyOptions = message('io.k8s.api.core.v1.NodeProxyOptions', 'The options of a proxy request to a node.', {
  path: field(1, string, 'The URL path of the request.'),
});
export type NodeProxyOptions = Infer<typeof NodeProxyOptions>;
