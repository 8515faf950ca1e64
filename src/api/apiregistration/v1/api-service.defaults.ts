import { fillUnset, mapField } from '../../defaulting.ts';
import type { APIService, APIServiceSpec } from './api-service.ts';

export function defaultAPIService(service: APIService): APIService {
  return mapField(service, 'spec', (spec: APIServiceSpec) => mapField(spec, 'service', (reference) => fillUnset(reference, { port: 443 })));
}
