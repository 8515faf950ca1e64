import type { core, scheduling } from '#api';
import { type MaybePromise, mapMaybePromise } from '#base';
import { changeOnceWith, StatusError } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { isAboutPods, type PluginDeps, pluginForbiddenError, readObject, readObjects } from './plugin-deps.ts';

type PriorityClass = scheduling.PriorityClass;
const CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };
const DEFAULT_PRIORITY = 0;

/** Resolves priority class names to numbers, and allows at most one default class. */
export function priority(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'Priority',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: ['pods', 'priorityclasses.scheduling.k8s.io'],
    admit: (attributes) => (isAboutPods(attributes) && attributes.object !== undefined ? prioritized(attributes, deps) : undefined),
    validate: (attributes) => {
      if (!isAboutClasses(attributes)) return;
      return attributes.operation === 'DELETE' ? checkSystemClass(attributes) : checkDefault(attributes, deps);
    },
  };
}

function isAboutClasses({ resource }: AdmissionAttributes): boolean {
  return resource.group === CLASSES.group && resource.resource === CLASSES.resource;
}

function checkSystemClass(attributes: AdmissionAttributes): void {
  if (attributes.name.startsWith('system-'))
    throw pluginForbiddenError(attributes, 'this is a system priority class and cannot be deleted');
}

function prioritized(attributes: AdmissionAttributes, deps: PluginDeps): MaybePromise<core.Pod> {
  const pod = attributes.object as core.Pod;
  if (attributes.operation === 'UPDATE') return keepPriority(pod, attributes.oldObject as core.Pod);
  return mapMaybePromise(classOf(attributes, deps, pod.spec!.priorityClassName ?? ''), (chosen) => ofClass(attributes, pod, chosen));
}

function ofClass(attributes: AdmissionAttributes, pod: core.Pod, chosen: PriorityClass | undefined): core.Pod {
  const spec = pod.spec!;
  const value = priorityOf(chosen);
  const preemptionPolicy = policyOf(chosen);
  if (spec.priority !== undefined && spec.priority !== value) {
    throw pluginForbiddenError(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw pluginForbiddenError(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  return { ...pod, spec: withPriority(spec, chosen) };
}

const withPriority = changeOnceWith((spec: core.PodSpec, chosen: PriorityClass | undefined): core.PodSpec => {
  const name = chosen === undefined ? {} : { priorityClassName: chosen.metadata.name };
  return { ...spec, ...name, priority: priorityOf(chosen), preemptionPolicy: policyOf(chosen) };
});

function priorityOf(chosen: PriorityClass | undefined): number {
  return chosen?.value ?? DEFAULT_PRIORITY;
}

function policyOf(chosen: PriorityClass | undefined): string {
  return chosen?.preemptionPolicy ?? 'PreemptLowerPriority';
}

/** An update that omits the priority keeps it. */
function keepPriority(pod: core.Pod, old: core.Pod): core.Pod {
  const { priority: number, preemptionPolicy } = old.spec ?? {};
  const restored = {
    ...(pod.spec?.priority === undefined && number !== undefined && { priority: number }),
    ...(pod.spec?.preemptionPolicy === undefined && preemptionPolicy !== undefined && { preemptionPolicy }),
  };
  return Object.keys(restored).length === 0 ? pod : { ...pod, spec: { ...pod.spec!, ...restored } };
}

function classOf(attributes: AdmissionAttributes, deps: PluginDeps, name: string): MaybePromise<PriorityClass | undefined> {
  if (name === '') return defaultClass(deps);
  return mapMaybePromise(readObject(deps, CLASSES, { namespace: '', name }), (priorityClass) => {
    if (priorityClass === undefined) throw pluginForbiddenError(attributes, `no PriorityClass with name ${name} was found`);
    return priorityClass as unknown as PriorityClass;
  });
}

/** The default class with the lowest value, should there be several. */
function defaultClass(deps: PluginDeps): MaybePromise<PriorityClass | undefined> {
  return mapMaybePromise(readObjects(deps, CLASSES) as unknown as MaybePromise<readonly PriorityClass[]>, (classes) => {
    return classes.filter(({ globalDefault }) => globalDefault).sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0];
  });
}

async function checkDefault({ object }: AdmissionAttributes, deps: PluginDeps): Promise<void> {
  const { globalDefault, metadata } = object as PriorityClass;
  if (!globalDefault) return;
  const other = (await defaultClass(deps))?.metadata.name;
  if (other === undefined || other === metadata.name) return;
  const detail = `PriorityClass ${other} is already marked as default. Only one default can exist`;
  throw StatusError.forbidden(CLASSES, metadata.name, detail);
}
