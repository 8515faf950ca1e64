import type { KindBehaviour } from '../../behaviour.ts';
import { leaseTable } from './lease.table.ts';
import { Lease } from './lease.ts';
import { validateLease, validateLeaseUpdate } from './lease.validation.ts';

export const leaseBehaviour: KindBehaviour<Lease> = {
  kind: Lease,
  validate: validateLease,
  validateUpdate: validateLeaseUpdate,
  table: leaseTable,
};
