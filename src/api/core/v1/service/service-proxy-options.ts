import { field, type Infer, message, string } from '../../../schema.ts';

export const ServiceProxyOptions = message('io.k8s.api.core.v1.ServiceProxyOptions', 'The options of a proxy request to a service.', {
  path: field(1, string, 'The URL path of the request.'),
});
export type ServiceProxyOptions = Infer<typeof ServiceProxyOptions>;
