import { field, type Infer, message, string } from '../../../schema.ts';

export const NodeProxyOptions = message('io.k8s.api.core.v1.NodeProxyOptions', 'What to ask of a node.', {
  path: field(1, string, 'The path to ask for.'),
});
export type NodeProxyOptions = Infer<typeof NodeProxyOptions>;
