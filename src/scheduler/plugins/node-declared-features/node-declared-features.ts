import type { core } from '#api';
import type { Plugin } from '../../framework/plugin.ts';
import { SKIP, unresolvable } from '../../framework/status.ts';

const NAME = 'NodeDeclaredFeatures';
const MISSING = unresolvable(NAME, "node(s) didn't match Pod's required features");

interface NeededFeatures {
  readonly features: readonly string[];
}

/** Pods that use optional kubelet features need nodes that declare them. */
export function nodeDeclaredFeatures(): Plugin {
  return {
    name: NAME,
    events: [{ resource: 'Node', actions: ['Add', 'UpdateNodeDeclaredFeature'] }],
    preFilter(state, { pod }) {
      const features = neededBy(pod.spec);
      if (features.length === 0) return { status: SKIP };
      state.write(NAME, { features } satisfies NeededFeatures);
      return undefined;
    },
    filter(state, _, { node }) {
      const declared = node?.status?.declaredFeatures ?? [];
      const { features } = state.read<NeededFeatures>(NAME)!;
      return features.every((feature) => declared.includes(feature)) ? undefined : MISSING;
    },
  };
}

function neededBy(spec: core.PodSpec | undefined): readonly string[] {
  const features: string[] = [];
  if ((spec?.containers ?? []).some(restartsAll) || (spec?.initContainers ?? []).some(restartsAll)) {
    features.push('RestartAllContainersOnContainerExits');
  }
  if (spec?.hostNetwork === true && spec.hostUsers === false) features.push('UserNamespacesHostNetworkSupport');
  return features;
}

function restartsAll({ restartPolicyRules }: core.Container): boolean {
  return restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers') === true;
}
