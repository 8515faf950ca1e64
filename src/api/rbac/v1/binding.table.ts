import type { TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../table-cells.ts';
import type { RoleBinding } from './role-binding.ts';
import type { Subject } from './subject.ts';

/** RoleBindings and ClusterRoleBindings are printed alike. */
export const bindingTable: TableDefinition<RoleBinding> = {
  columns: [
    NAME_COLUMN,
    column('Role', 'The role that is granted.'),
    AGE_COLUMN,
    wideColumn('Users', 'The users that have the role.'),
    wideColumn('Groups', 'The groups that have the role.'),
    wideColumn('ServiceAccounts', 'The service accounts that have the role.'),
  ],
  cells: ({ metadata, roleRef, subjects = [] }, now) => [
    metadata.name,
    `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
    ageCell(metadata, now),
    names(subjects, 'User'),
    names(subjects, 'Group'),
    subjects
      .filter(({ kind }) => kind === 'ServiceAccount')
      .map(({ namespace, name }) => `${namespace ?? ''}/${name}`)
      .join(', '),
  ],
};

function names(subjects: readonly Subject[], kind: string): string {
  return subjects
    .filter((subject) => subject.kind === kind)
    .map(({ name }) => name)
    .join(', ');
}
