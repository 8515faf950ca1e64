import type { core, node } from '#api';
import { type Soon, whenKnown } from '#base';
import { Quantity } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { mergeTolerations } from './merge-tolerations.ts';
import { forbid, isAboutPods, type PluginDeps, readObject } from './plugin-deps.ts';

type Pod = core.Pod;
const CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' };
const DIFFERS = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const UNFOUNDED = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

/** A pod of a runtime class costs what that class costs, and goes where it can run. */
export function runtimeClass(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    operations: ['CREATE'],
    resources: ['pods'],
    admit: (attributes) => {
      if (!isAboutPods(attributes)) return undefined;
      return whenKnown(classOf(attributes, deps), (found) => found && scheduled(attributes, withOverhead(attributes, found), found));
    },
    validate: (attributes) => {
      if (!isAboutPods(attributes)) return undefined;
      return whenKnown(classOf(attributes, deps), (found) => checkOverhead(attributes, found));
    },
  };
}

function checkOverhead(attributes: AdmissionAttributes, found: node.RuntimeClass | undefined): void {
  const overhead = found?.overhead;
  const given = (attributes.object as Pod).spec?.overhead;
  if (overhead === undefined) {
    if (given !== undefined) throw forbid(attributes, UNFOUNDED);
  } else if (!sameAmounts(overhead.podFixed, given)) throw forbid(attributes, DIFFERS);
}

function classOf(attributes: AdmissionAttributes, deps: PluginDeps): Soon<node.RuntimeClass | undefined> {
  const name = (attributes.object as Pod).spec?.runtimeClassName;
  if (name === undefined) return undefined;
  return whenKnown(readObject(deps, CLASSES, { namespace: '', name }), (found) => {
    if (found === undefined) throw forbid(attributes, `pod rejected: RuntimeClass "${name}" not found`);
    return found as unknown as node.RuntimeClass;
  });
}

function withOverhead(attributes: AdmissionAttributes, { overhead }: node.RuntimeClass): Pod {
  const pod = attributes.object as Pod;
  if (overhead === undefined) return pod;
  const given = pod.spec?.overhead ?? {};
  if (Object.keys(given).length > 0 && !sameAmounts(overhead.podFixed, given)) throw forbid(attributes, DIFFERS);
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
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`;
    throw forbid(attributes, why);
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
