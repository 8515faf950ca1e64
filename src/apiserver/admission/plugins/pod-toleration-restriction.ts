import { core } from '#api';
import { isJsonObject } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { mergeTolerations, TolerationCover } from './merge-tolerations.ts';
import { isAboutPods, type PluginDeps, readObject } from './plugin-deps.ts';

const DEFAULTS = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const WHITELIST = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';
const MEMORY_PRESSURE: core.Toleration = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };

type Tolerations = readonly core.Toleration[];

/** For namespaces whose annotations do not say it. */
export interface TolerationRestriction {
  readonly default: Tolerations;
  readonly whitelist: Tolerations;
}

/** Adds the default tolerations of the namespace to its pods, and rejects those that its whitelist does not cover. */
export function podTolerationRestriction(
  deps: PluginDeps,
  cluster: TolerationRestriction = { default: [], whitelist: [] },
): AdmissionPlugin {
  const demandAllowed = async (attributes: AdmissionAttributes, tolerations: Tolerations) => {
    if (tolerations.length === 0) return;
    const ofNamespace = await annotatedTolerations(attributes, deps, WHITELIST);
    const whitelist = ofNamespace ?? cluster.whitelist;
    if (whitelist.length === 0) return;
    const cover = new TolerationCover(whitelist);
    if (tolerations.every((toleration) => cover.covers(toleration))) return;
    const scope = ofNamespace === undefined ? 'cluster' : 'namespace';
    throw new Error(`pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`);
  };
  return {
    name: 'PodTolerationRestriction',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    admit: async (attributes) => {
      if (!isAboutPods(attributes)) return undefined;
      const pod = attributes.object as core.Pod;
      const extra = await extraTolerations(attributes, deps, cluster.default);
      const tolerations = extra.length === 0 ? (pod.spec?.tolerations ?? []) : mergeTolerations(pod.spec?.tolerations ?? [], extra);
      await demandAllowed(attributes, tolerations);
      return extra.length === 0 ? undefined : { ...pod, spec: { ...pod.spec, tolerations } };
    },
    validate: async (attributes) => {
      if (isAboutPods(attributes)) await demandAllowed(attributes, (attributes.object as core.Pod).spec?.tolerations ?? []);
    },
  };
}

async function extraTolerations(attributes: AdmissionAttributes, deps: PluginDeps, byDefault: Tolerations): Promise<Tolerations> {
  const added = attributes.operation === 'CREATE' ? ((await annotatedTolerations(attributes, deps, DEFAULTS)) ?? byDefault) : [];
  const isBestEffort = core.computePodQOS((attributes.object as core.Pod).spec!) === 'BestEffort';
  return isBestEffort ? added : [...added, MEMORY_PRESSURE];
}

/** Undefined where the namespace has no such annotation; an empty one is an empty list. */
async function annotatedTolerations({ namespace }: AdmissionAttributes, deps: PluginDeps, key: string): Promise<Tolerations | undefined> {
  const object = await readObject(deps, { group: '', resource: 'namespaces' }, { namespace: '', name: namespace });
  const text = object?.metadata.annotations?.[key];
  if (text === undefined || text === '') return text === undefined ? undefined : [];
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed) || !parsed.every((item) => isJsonObject(item)))
    throw new Error(`the annotation ${key} is no list of tolerations`);
  return parsed as Tolerations;
}
