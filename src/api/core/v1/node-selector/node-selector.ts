import { atomic, type Infer, listOf, object, required } from '../../../schema.ts';
import { NodeSelectorTerm } from './node-selector-term.ts';

export const NodeSelector = atomic(
  object('io.k8s.api.core.v1.NodeSelector', 'Selects nodes that match any of the terms.', {
    nodeSelectorTerms: required(1, listOf(NodeSelectorTerm), 'Alternatives, of which one must match.'),
  }),
);
export type NodeSelector = Infer<typeof NodeSelector>;
