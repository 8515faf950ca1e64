import { bytes, field, type Infer, int32, object, pointer, required, string } from '../../schema.ts';

export const ServiceReference = object('io.k8s.api.admissionregistration.v1.ServiceReference', '', {
  namespace: required(1, string),
  name: required(2, string),
  path: pointer(3, string),
  port: pointer(4, int32),
});
export type ServiceReference = Infer<typeof ServiceReference>;

export const WebhookClientConfig = object('io.k8s.api.admissionregistration.v1.WebhookClientConfig', '', {
  url: pointer(3, string),
  service: pointer(1, ServiceReference),
  caBundle: field(2, bytes),
});
export type WebhookClientConfig = Infer<typeof WebhookClientConfig>;
