import { networking } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const ipAddressesStrategy: ResourceStrategy<networking.IPAddress> = { ...networking.ipAddressBehaviour, namedByBase: true };
