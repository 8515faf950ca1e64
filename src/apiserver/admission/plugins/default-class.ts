import { parseTime } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';

/** The newest class that one of the annotations marks as default; ties are broken by name. */
export function defaultClass(classes: readonly KubeObject[], ...annotations: readonly string[]): string | undefined {
  const defaults = classes.filter(({ metadata }) => annotations.some((name) => metadata.annotations?.[name] === 'true'));
  const age = ({ metadata }: KubeObject) => (metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : 0);
  return defaults.toSorted((a, b) => age(b) - age(a) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]?.metadata.name;
}
