import { labelSelectorText } from '#machinery';
import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import type { NetworkPolicy } from './network-policy.ts';

export const networkPolicyTable: TableDefinition<NetworkPolicy> = {
  columns: [NAME_COLUMN, column('Pod-Selector', 'The pods that the policy is about.'), AGE_COLUMN],
  cells: ({ metadata, spec }, now) => [metadata.name, labelSelectorText(spec?.podSelector ?? {}), ageCell(metadata, now)],
};
