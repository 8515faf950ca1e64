import type { apiregistration, core, discovery } from '#api';
import { goQuote } from '#machinery';

/** The Service behind an APIService. */
export interface BackingService {
  readonly service: core.Service | undefined;
  readonly slices: readonly discovery.EndpointSlice[];
}

export interface Unreachable {
  readonly reason: string;
  readonly message: string;
}

const HTTPS = 443;

/** Why an APIService's Service is unavailable, in upstream's words; undefined when it may be available. */
export function backingServiceProblem(
  reference: apiregistration.ServiceReference,
  { service, slices }: BackingService,
): Unreachable | undefined {
  const { name = '', namespace = '', port: number = HTTPS } = reference;
  const serviceText = `service/${name} in ${goQuote(namespace)}`;
  if (service === undefined) return { reason: 'ServiceNotFound', message: `${serviceText} is not present` };
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const port = service.spec?.ports?.find((candidate) => candidate.port === number);
  if (port === undefined) return { reason: 'ServicePortError', message: `${serviceText} is not listening on port ${number}` };
  if (slices.length === 0) return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${serviceText}` };
  const portName = port.name ?? '';
  if (slices.some((slice) => hasReadyEndpoint(slice, portName))) return undefined;
  const message = `endpointslices for ${serviceText} have no addresses with port name ${goQuote(portName)}`;
  return { reason: 'MissingEndpoints', message };
}

function hasReadyEndpoint({ endpoints, ports }: discovery.EndpointSlice, portName: string): boolean {
  const isReady = endpoints?.some(({ conditions }) => conditions?.ready !== false) ?? false;
  return isReady && (ports?.some(({ name = '', port }) => name === portName && port !== undefined) ?? false);
}
