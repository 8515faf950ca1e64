import { bytes, field, type Infer, int32, object, pointer, required, string } from '../../schema.ts';

export const ServiceReference = object('io.k8s.api.admissionregistration.v1.ServiceReference', 'A service to call.', {
  namespace: required(1, string, 'The namespace of the service.'),
  name: required(2, string, 'The name of the service.'),
  path: pointer(3, string, 'The path to call.'),
  port: pointer(4, int32, 'The port; 443 by default.'),
});
export type ServiceReference = Infer<typeof ServiceReference>;

export const WebhookClientConfig = object('io.k8s.api.admissionregistration.v1.WebhookClientConfig', 'How to reach a server.', {
  url: pointer(3, string, 'Its address, when it is outside the cluster.'),
  service: pointer(1, ServiceReference, 'Its service, when it is inside.'),
  caBundle: field(2, bytes, 'Certificates that its certificate is checked against, as PEM.'),
});
export type WebhookClientConfig = Infer<typeof WebhookClientConfig>;
