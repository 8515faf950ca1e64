import type { core } from '#api';
import { deepEqual, type JsonValue, semanticEqual } from '#machinery';
import type { AdmissionPlugin } from '../admission.ts';
import { isAboutPods, type PluginDeps, pluginForbiddenError, readObject } from './plugin-deps.ts';

interface NodeFeature {
  readonly name: string;
  /** Whether a change of a pod works only on nodes that have the feature. */
  readonly isNeeded: (old: core.PodSpec, spec: core.PodSpec) => boolean;
}

const FEATURES: readonly NodeFeature[] = [
  { name: 'InPlacePodLevelResourcesVerticalScaling', isNeeded: changesPodResources },
  { name: 'InPlacePodVerticalScalingInitContainers', isNeeded: changesInitContainers },
];

/** Rejects pod updates that need a feature which the pod's node does not declare. */
export function nodeDeclaredFeatureValidator(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'NodeDeclaredFeatureValidator',
    operations: ['UPDATE'],
    resources: ['pods'],
    validate: async (attributes) => {
      if (!isAboutPods(attributes, 'resize')) return;
      const [old, pod] = [attributes.oldObject as core.Pod, attributes.object as core.Pod];
      const name = pod.spec?.nodeName ?? '';
      // The generation grows with every change of the spec.
      if (name === '' || pod.metadata.generation === old.metadata.generation) return;
      const needed = FEATURES.filter(({ isNeeded }) => isNeeded(old.spec!, pod.spec!)).map((feature) => feature.name);
      if (needed.length === 0) return;
      const node = (await readObject(deps, { group: '', resource: 'nodes' }, { namespace: '', name })) as core.Node | undefined;
      if (node === undefined) throw pluginForbiddenError(attributes, `node "${name}" not found`);
      const missing = needed.filter((feature) => !node.status?.declaredFeatures?.includes(feature));
      if (missing.length === 0) return;
      throw pluginForbiddenError(
        attributes,
        `pod update requires features ${missing.join(', ')} which are not available on node "${name}"`,
      );
    },
  };
}

function changesPodResources(old: core.PodSpec, spec: core.PodSpec): boolean {
  return !semanticEqual(old.resources as JsonValue | undefined, spec.resources as JsonValue | undefined);
}

function changesInitContainers(old: core.PodSpec, spec: core.PodSpec): boolean {
  const now = spec.initContainers ?? [];
  return (old.initContainers ?? []).some(
    ({ restartPolicy, resources }, i) =>
      restartPolicy !== 'Always' && !deepEqual(resources as JsonValue | undefined, now[i]?.resources as JsonValue | undefined),
  );
}
