import { networking } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const ingressesStrategy: ResourceStrategy<networking.Ingress> = {
  ...networking.ingressBehaviour,
  hasStatus: true,
  statusWarnings: networking.ingressStatusWarnings,
  tracksGeneration: true,
  resetFields: { '': [['status']], status: [['spec']] },
  location: 'ingress',
};
