import type { core } from '#api';

/** Events about a node use its name also as the uid, as upstream's kubelet. */
export function nodeReference(nodeName: string): core.ObjectReference {
  return { kind: 'Node', name: nodeName, uid: nodeName };
}
