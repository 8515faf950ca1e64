import { field, type Infer, message, string } from '../../schema.ts';

export const ServiceProxyOptions = message('io.k8s.api.core.v1.ServiceProxyOptions', '', {
  path: field(1, string),
});
export type ServiceProxyOptions = Infer<typeof ServiceProxyOptions>;
