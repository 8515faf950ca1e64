import { apps, core } from '#api';
import { goParseIntError, type JsonValue, semanticEqual } from '#machinery';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';
import { prepareTemplate } from '../generic/template-preparation.ts';

type DaemonSet = apps.DaemonSet;

/** The number of template changes: formerly a field, now an annotation. */
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

function prepareForCreate(set: DaemonSet, scope: RequestScope): DaemonSet {
  return withTemplateGeneration(prepareTemplate(set, scope), Math.max(1, templateGeneration(set)));
}

function prepareForUpdate(set: DaemonSet, old: DaemonSet, scope: RequestScope): DaemonSet {
  const prepared = prepareTemplate(set, scope);
  const isSame = semanticEqual(
    prepared.spec?.template as JsonValue | undefined,
    old.spec?.template as JsonValue | undefined,
    core.PodTemplateSpec,
  );
  return withTemplateGeneration(prepared, templateGeneration(old) + (isSame ? 0 : 1));
}

export const daemonSetsStrategy: ResourceStrategy<DaemonSet> = {
  ...apps.daemonSetBehaviour,
  // The annotation is owned by the creating client.
  defaults: (set) => withAnnotation(apps.daemonSetBehaviour.defaults?.(set) ?? set),
  conversionError,
  internalAnnotations: [TEMPLATE_GENERATION],
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate: (set, old) => withTemplateGeneration(set, templateGeneration(old)),
  resetFields: { '': [['status']], status: [['spec']] },
};
