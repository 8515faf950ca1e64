import { labelsText } from '#machinery';
import type { TableColumn } from '../../../behaviour.ts';
import { wideColumn } from '../../../table-cells.ts';
import type { PodTemplateSpec } from '../pod-template/pod-template-spec.ts';

/** The wide columns of kinds that make pods from a template. */
export const CONTAINER_COLUMNS: readonly TableColumn[] = [
  wideColumn('Containers', 'The names of the containers in the template.'),
  wideColumn('Images', 'The images of the containers in the template.'),
];
export const SELECTOR_COLUMN: TableColumn = wideColumn('Selector', 'Which pods belong to it.');

export function containerCells(template: PodTemplateSpec | undefined): readonly [string, string] {
  const containers = template?.spec?.containers ?? [];
  return [containers.map(({ name }) => name).join(','), containers.map(({ image }) => image ?? '').join(',')];
}

/** Labels in printed form: `<none>` if there are none. */
export function labelsCell(labels: Readonly<Record<string, string>> | undefined): string {
  return labelsText(labels ?? {}) || '<none>';
}
