import type { KindBehaviour } from '../../behaviour.ts';
import { ipAddressTable } from './ip-address.table.ts';
import { IPAddress } from './ip-address.ts';
import { validateIPAddress, validateIPAddressUpdate } from './ip-address.validation.ts';

export const ipAddressBehaviour: KindBehaviour<IPAddress> = {
  kind: IPAddress,
  validate: validateIPAddress,
  validateUpdate: validateIPAddressUpdate,
  table: ipAddressTable,
};
