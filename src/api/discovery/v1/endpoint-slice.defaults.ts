import { fillUnset, mapField, mapItems } from '../../defaulting.ts';
import type { EndpointSlice } from './endpoint-slice.ts';

export function defaultEndpointSlice(slice: EndpointSlice): EndpointSlice {
  return mapField(slice, 'ports', (ports) => mapItems(ports, (port) => fillUnset(port, { name: '', protocol: 'TCP' })));
}
