import { fillZero } from '../../../defaulting.ts';
import type { Namespace } from './namespace.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** Every namespace has its name as a label, for selectors. */
export function labelWithName(namespace: Namespace): Namespace {
  const { metadata } = namespace;
  if (!metadata.name || metadata.labels?.[NAME_LABEL] === metadata.name) return namespace;
  return { ...namespace, metadata: { ...metadata, labels: { ...metadata.labels, [NAME_LABEL]: metadata.name } } };
}

export function defaultNamespace(namespace: Namespace): Namespace {
  const labelled = labelWithName(namespace);
  const status = fillZero(labelled.status ?? {}, { phase: 'Active' });
  return status === labelled.status ? labelled : { ...labelled, status };
}
