import type { core } from '#api';
import { checkLabelKey, checkLabelValue, goQuote, StatusError } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { isAboutPods, type PluginDeps, readObject } from './plugin-deps.ts';

const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector';
const DEFAULT = 'clusterDefaultNodeSelector';

type Labels = ReadonlyMap<string, string>;

/** Selectors such as `env=test,disk=ssd` by namespace: labels that its pods may select. `clusterDefaultNodeSelector`: of namespaces without an annotation. */
export type NodeSelectors = ReadonlyMap<string, string>;

/** Adds the node selector of the namespace to its pods. */
export function podNodeSelector(deps: PluginDeps, selectors: NodeSelectors = new Map()): AdmissionPlugin {
  return {
    name: 'PodNodeSelector',
    operations: ['CREATE'],
    resources: ['pods'],
    admit: async (attributes) => {
      if (!isAboutPods(attributes)) return undefined;
      const pod = attributes.object as core.Pod;
      const ofNamespace = await namespaceSelector(attributes, deps, selectors);
      checkSelector(pod, ofNamespace, undefined);
      const nodeSelector = { ...Object.fromEntries(ofNamespace), ...pod.spec?.nodeSelector };
      const selecting = { ...pod, spec: { ...pod.spec!, nodeSelector } };
      checkSelector(selecting, ofNamespace, selectors.get(attributes.namespace));
      return selecting;
    },
    validate: async (attributes) => {
      if (!isAboutPods(attributes)) return;
      const ofNamespace = await namespaceSelector(attributes, deps, selectors);
      checkSelector(attributes.object as core.Pod, ofNamespace, selectors.get(attributes.namespace));
    },
  };
}

async function namespaceSelector({ namespace }: AdmissionAttributes, deps: PluginDeps, selectors: NodeSelectors): Promise<Labels> {
  const object = await readObject(deps, { group: '', resource: 'namespaces' }, { namespace: '', name: namespace });
  if (object === undefined) throw new Error(`namespace ${namespace} does not exist`);
  return labelMapOf(object.metadata.annotations?.[ANNOTATION] ?? selectors.get(DEFAULT) ?? '');
}

function checkSelector(pod: core.Pod, ofNamespace: Labels, allowed: string | undefined): void {
  const labels = Object.entries(pod.spec?.nodeSelector ?? {});
  if (labels.some(([key, value]) => ofNamespace.has(key) && ofNamespace.get(key) !== value)) {
    throw forbidden(pod, 'pod node label selector conflicts with its namespace node label selector');
  }
  const whitelist = labelMapOf(allowed ?? '');
  if (whitelist.size > 0 && labels.some(([key, value]) => whitelist.get(key) !== value)) {
    throw forbidden(pod, 'pod node label selector labels conflict with its namespace whitelist');
  }
}

function forbidden({ metadata }: core.Pod, detail: string): StatusError {
  return StatusError.forbidden({ group: '', resource: 'pods' }, metadata.name ?? '', detail);
}

/** The labels of a list such as `env=test,disk=ssd`. Throws in upstream's words. */
function labelMapOf(selector: string): Labels {
  if (selector === '') return new Map();
  return new Map(
    selector.split(',').map((label) => {
      const parts = label.split('=');
      if (parts.length !== 2) throw new Error(`invalid selector: [${parts.join(' ')}]`);
      const [key = '', value = ''] = parts.map((part) => part.trim());
      throwOnProblems(key, checkLabelKey(key));
      throwOnProblems(value, checkLabelValue(value));
      return [key, value] as const;
    }),
  );
}

function throwOnProblems(value: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`<nil>: Invalid value: ${goQuote(value)}: ${problems.join('; ')}`);
}
