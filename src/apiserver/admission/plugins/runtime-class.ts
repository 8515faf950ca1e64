import type { core, node } from '#api';
import { type MaybePromise, mapMaybePromise } from '#base';
import { Quantity } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { mergeTolerations } from './merge-tolerations.ts';
import { isAboutPods, type PluginDeps, pluginForbiddenError, readObject } from './plugin-deps.ts';

type Pod = core.Pod;
const CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' };
const DIFFERS = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const UNFOUNDED = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

/** Sets the pod's overhead, node selector and tolerations from its RuntimeClass. */
export function runtimeClass(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    operations: ['CREATE'],
    resources: ['pods'],
    admit: (attributes) => {
      if (!isAboutPods(attributes)) return undefined;
      return mapMaybePromise(
        classOf(attributes, deps),
        (runtimeClass) => runtimeClass && scheduled(attributes, withOverhead(attributes, runtimeClass), runtimeClass),
      );
    },
    validate: (attributes) => {
      if (!isAboutPods(attributes)) return undefined;
      return mapMaybePromise(classOf(attributes, deps), (runtimeClass) => checkOverhead(attributes, runtimeClass));
    },
  };
}

function checkOverhead(attributes: AdmissionAttributes, runtimeClass: node.RuntimeClass | undefined): void {
  const overhead = runtimeClass?.overhead;
  const podOverhead = (attributes.object as Pod).spec?.overhead;
  if (overhead === undefined) {
    if (podOverhead !== undefined) throw pluginForbiddenError(attributes, UNFOUNDED);
  } else if (!sameAmounts(overhead.podFixed, podOverhead)) throw pluginForbiddenError(attributes, DIFFERS);
}

function classOf(attributes: AdmissionAttributes, deps: PluginDeps): MaybePromise<node.RuntimeClass | undefined> {
  const name = (attributes.object as Pod).spec?.runtimeClassName;
  if (name === undefined) return undefined;
  return mapMaybePromise(readObject(deps, CLASSES, { namespace: '', name }), (object) => {
    if (object === undefined) throw pluginForbiddenError(attributes, `pod rejected: RuntimeClass "${name}" not found`);
    return object as unknown as node.RuntimeClass;
  });
}

function withOverhead(attributes: AdmissionAttributes, { overhead }: node.RuntimeClass): Pod {
  const pod = attributes.object as Pod;
  if (overhead === undefined) return pod;
  const podOverhead = pod.spec?.overhead ?? {};
  if (Object.keys(podOverhead).length > 0 && !sameAmounts(overhead.podFixed, podOverhead)) throw pluginForbiddenError(attributes, DIFFERS);
  const { overhead: _, ...spec } = pod.spec!;
  return { ...pod, spec: overhead.podFixed ? { ...spec, overhead: overhead.podFixed } : spec };
}

type Amounts = Readonly<Record<string, string>>;

function sameAmounts(a: Amounts = {}, b: Amounts = {}): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => b[name] !== undefined && Quantity.parse(a[name]!).equals(Quantity.parse(b[name])))
  );
}

function scheduled(attributes: AdmissionAttributes, pod: Pod, { scheduling }: node.RuntimeClass): Pod {
  if (scheduling === undefined) return pod;
  const own = pod.spec?.nodeSelector ?? {};
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    if (own[key] === undefined || own[key] === value) continue;
    const detail = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`;
    throw pluginForbiddenError(attributes, detail);
  }
  const nodeSelector = { ...own, ...scheduling.nodeSelector };
  const tolerations = mergeTolerations(pod.spec?.tolerations ?? [], scheduling.tolerations ?? []);
  return {
    ...pod,
    spec: {
      ...pod.spec!,
      ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
      ...(tolerations.length > 0 && { tolerations }),
    },
  };
}
