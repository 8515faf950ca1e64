import type { core } from '#api';
import type { NamespaceOptions, UserNamespace } from '../../cri/runtime.ts';

/** The namespace modes of a pod's containers. */
export function namespaceOptions({ spec }: core.Pod, userns?: UserNamespace): NamespaceOptions {
  return {
    network: spec?.hostNetwork === true ? 'node' : 'pod',
    ipc: spec?.hostIPC === true ? 'node' : 'pod',
    pid: spec?.hostPID === true ? 'node' : spec?.shareProcessNamespace === true ? 'pod' : 'container',
    ...(userns && { userns }),
  };
}
