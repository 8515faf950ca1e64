import type { apiregistration } from '#api';
import type { ServicePort } from '../service-endpoints/service-endpoints.ts';

export type APIService = apiregistration.APIService;

/** A group version that another server serves. */
export interface RemoteApi {
  /** The name of its APIService: `VERSION.GROUP`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: ServicePort;
  readonly registration: APIService;
  readonly isAvailable: boolean;
}

const HTTPS = 443;

/** Undefined for local APIServices. */
export function remoteApiOf(registration: APIService): RemoteApi | undefined {
  const { service, group = '', version = '' } = registration.spec ?? {};
  if (service === undefined) return undefined;
  return {
    name: registration.metadata.name ?? '',
    group,
    version,
    service: { namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? HTTPS },
    registration,
    isAvailable: availableCondition(registration)?.status === 'True',
  };
}

export function availableCondition({ status }: APIService): apiregistration.APIServiceCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Available');
}

export function serviceKey({ namespace, name, port }: ServicePort): string {
  return `${namespace}/${name}:${port}`;
}
