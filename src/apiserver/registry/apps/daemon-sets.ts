import { apps, core } from '#api';
import { goParseIntError, type JsonValue, semanticEqual } from '#machinery';
import type { ResourceStrategy } from '../strategy.ts';
import { prepareTemplate } from '../template-preparation.ts';

type DaemonSet = apps.DaemonSet;

/** How often the template has changed: once a field, now an annotation that the server keeps. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function templateGeneration({ metadata }: DaemonSet): number {
  return Number(metadata.annotations?.[TEMPLATE_GENERATION] ?? '0');
}

function withTemplateGeneration(set: DaemonSet, generation: number): DaemonSet {
  const annotations = { ...set.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
  return { ...set, metadata: { ...set.metadata, annotations } };
}

function withAnnotation(set: DaemonSet): DaemonSet {
  return set.metadata.annotations?.[TEMPLATE_GENERATION] === undefined ? withTemplateGeneration(set, 0) : set;
}

function conversionError({ metadata }: DaemonSet): string | undefined {
  const text = metadata?.annotations?.[TEMPLATE_GENERATION];
  return text === undefined ? undefined : goParseIntError(text);
}

function prepareForCreate(set: DaemonSet): DaemonSet {
  return withTemplateGeneration(prepareTemplate(set), Math.max(1, templateGeneration(set)));
}

function prepareForUpdate(set: DaemonSet, old: DaemonSet): DaemonSet {
  const prepared = prepareTemplate(set);
  const isSame = semanticEqual(
    prepared.spec?.template as JsonValue | undefined,
    old.spec?.template as JsonValue | undefined,
    core.PodTemplateSpec,
  );
  return withTemplateGeneration(prepared, templateGeneration(old) + (isSame ? 0 : 1));
}

export const daemonSetsStrategy: ResourceStrategy<DaemonSet> = {
  ...apps.daemonSetBehaviour,
  // The client that creates a set owns the annotation, as if it had written it.
  defaults: (set) => withAnnotation(apps.daemonSetBehaviour.defaults?.(set) ?? set),
  conversionError,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate: (set, old) => withTemplateGeneration(set, templateGeneration(old)),
  resetFields: { '': [['status']], status: [['spec']] },
};
