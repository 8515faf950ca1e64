import type { KindBehaviour, TableDefinition } from '../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../table-cells.ts';
import { LeaseCandidate } from './lease-candidate.ts';
import { validateLeaseCandidate, validateLeaseCandidateUpdate } from './lease-candidate.validation.ts';

const table: TableDefinition<LeaseCandidate> = {
  columns: [
    NAME_COLUMN,
    column('LeaseName', 'The lease.'),
    column('BinaryVersion', "The version of the candidate's program."),
    column('EmulationVersion', 'The version that it behaves like.'),
    AGE_COLUMN,
  ],
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.leaseName ?? '',
    spec?.binaryVersion ?? '',
    spec?.emulationVersion ?? '',
    ageCell(metadata, now),
  ],
};

export const leaseCandidateBehaviour: KindBehaviour<LeaseCandidate> = {
  kind: LeaseCandidate,
  validate: validateLeaseCandidate,
  validateUpdate: validateLeaseCandidateUpdate,
  selectableFields: { 'spec.leaseName': ({ spec }) => spec?.leaseName ?? '' },
  table,
};
