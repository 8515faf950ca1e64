import { fillZero, mapField, mapItems } from '../../../defaulting.ts';
import type { Endpoints } from './endpoints.ts';

export function defaultEndpoints(endpoints: Endpoints): Endpoints {
  return mapField(endpoints, 'subsets', (subsets) =>
    mapItems(subsets, (subset) => mapField(subset, 'ports', (ports) => mapItems(ports, (port) => fillZero(port, { protocol: 'TCP' })))),
  );
}
