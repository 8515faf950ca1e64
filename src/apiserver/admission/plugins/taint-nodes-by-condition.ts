import type { core } from '#api';
import type { AdmissionPlugin } from '../admission.ts';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Taints new nodes as not ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  operations: ['CREATE'],
  resources: ['nodes'],
  admit: ({ subresource, object }) => {
    if (subresource !== '') return;
    const node = object as core.Node;
    const taints = node.spec?.taints ?? [];
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return;
    return { ...node, spec: { ...node.spec, taints: [...taints, NOT_READY] } };
  },
};
