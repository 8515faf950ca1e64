import { field, type Infer, int64, object, pointer, string } from '../../schema.ts';

export const DeviceToleration = object('io.k8s.api.resource.v1.DeviceToleration', '', {
  key: field(1, string, 'The key.'),
  operator: field(2, string, '', { default: 'Equal' }),
  value: field(3, string),
  effect: field(4, string),
  tolerationSeconds: pointer(5, int64),
});
export type DeviceToleration = Infer<typeof DeviceToleration>;
