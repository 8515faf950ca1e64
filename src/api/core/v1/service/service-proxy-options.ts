import { field, type Infer, message, string } from '../../../schema.ts';

export const ServiceProxyOptions = message('io.k8s.api.core.v1.ServiceProxyOptions', 'What to ask of a service.', {
  path: field(1, string, 'The path to ask for.'),
});
export type ServiceProxyOptions = Infer<typeof ServiceProxyOptions>;
