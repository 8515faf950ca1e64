import { parseTime } from '#machinery';
import type { KubeObject } from '../../registry/kube-object.ts';

/** Of the classes that are marked as the default by one of the annotations, the newest; of those made at once, the first by name. */
export function defaultClass(classes: readonly KubeObject[], ...annotations: readonly string[]): string | undefined {
  const marked = classes.filter(({ metadata }) => annotations.some((name) => metadata.annotations?.[name] === 'true'));
  const age = ({ metadata }: KubeObject) => (metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : 0);
  return marked.toSorted((a, b) => age(b) - age(a) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]?.metadata.name;
}
