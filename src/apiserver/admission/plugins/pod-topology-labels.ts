import type { core } from '#api';
import { mapMaybePromise } from '#base';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { withMetadata } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { isAboutPods, type PluginDeps, readObject } from './plugin-deps.ts';

const LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Labels pods with the zone and region of their node when they are bound. */
export function podTopologyLabels(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'PodTopologyLabels',
    operations: ['CREATE'],
    resources: ['pods'],
    admit: (attributes) => {
      const name = nodeOf(attributes);
      if (name === '') return undefined;
      return mapMaybePromise(readObject(deps, { group: '', resource: 'nodes' }, { namespace: '', name }), (node) =>
        withLabelsOf(node, attributes.object as KubeObject),
      );
    },
  };
}

function withLabelsOf(node: KubeObject | undefined, object: KubeObject): KubeObject {
  const labels = Object.entries(node?.metadata.labels ?? {}).filter(([key]) => LABELS.includes(key));
  if (labels.length === 0) return object;
  return withMetadata(object, { labels: { ...object.metadata.labels, ...Object.fromEntries(labels) } });
}

function nodeOf(attributes: AdmissionAttributes): string {
  if (!isAboutPods(attributes, 'binding')) return '';
  if (attributes.subresource === '') return (attributes.object as core.Pod).spec?.nodeName ?? '';
  const { target } = attributes.object as core.Binding;
  return target?.kind === 'Node' ? (target.name ?? '') : '';
}
