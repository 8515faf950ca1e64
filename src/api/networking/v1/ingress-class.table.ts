import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { IngressClass } from './ingress-class.ts';

const DEFAULT_CLASS = 'ingressclass.kubernetes.io/is-default-class';

export const ingressClassTable: TableDefinition<IngressClass> = {
  columns: [
    NAME_COLUMN,
    column('Controller', 'The controller that handles ingresses of this class.'),
    column('Parameters', 'An object with more configuration.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec }, now) => [
    metadata.annotations?.[DEFAULT_CLASS] === 'true' ? `${metadata.name} (default)` : metadata.name,
    spec?.controller ?? '',
    parametersText(spec?.parameters),
    ageCell(metadata, now),
  ],
};

function parametersText(parameters: NonNullable<IngressClass['spec']>['parameters']): string {
  if (!parameters) return '<none>';
  const kind = parameters.apiGroup === undefined ? parameters.kind : `${parameters.kind}.${parameters.apiGroup}`;
  return `${kind}/${parameters.name}`;
}
