import type { apiregistration, core, discovery } from '#api';
import { goQuote } from '#machinery';

/** What there is of the service that is to answer for an API. */
export interface Backing {
  readonly service: core.Service | undefined;
  readonly slices: readonly discovery.EndpointSlice[];
}

export interface Unreachable {
  readonly reason: string;
  readonly message: string;
}

export const UNREACHABLE_REASONS: ReadonlySet<string> = new Set([
  'ServiceNotFound',
  'ServicePortError',
  'EndpointsNotFound',
  'MissingEndpoints',
]);

const HTTPS = 443;

/** Why nobody can answer for an API that another server serves, in upstream's words; undefined when somebody might. */
export function whyUnreachable(reference: apiregistration.ServiceReference, { service, slices }: Backing): Unreachable | undefined {
  const { name = '', namespace = '', port: number = HTTPS } = reference;
  const which = `service/${name} in ${goQuote(namespace)}`;
  if (service === undefined) return { reason: 'ServiceNotFound', message: `${which} is not present` };
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const port = service.spec?.ports?.find((candidate) => candidate.port === number);
  if (port === undefined) return { reason: 'ServicePortError', message: `${which} is not listening on port ${number}` };
  if (slices.length === 0) return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${which}` };
  const portName = port.name ?? '';
  if (slices.some((slice) => hasReadyEndpoint(slice, portName))) return undefined;
  const message = `endpointslices for ${which} have no addresses with port name ${goQuote(portName)}`;
  return { reason: 'MissingEndpoints', message };
}

function hasReadyEndpoint({ endpoints, ports }: discovery.EndpointSlice, portName: string): boolean {
  const isReady = endpoints?.some(({ conditions }) => conditions?.ready !== false) ?? false;
  return isReady && (ports?.some(({ name = '', port }) => name === portName && port !== undefined) ?? false);
}
