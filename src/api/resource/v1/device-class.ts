import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, inlined, kind, listOf, object, pointer, required, string } from '../../schema.ts';
import { DeviceConfiguration } from './device-configuration.ts';
import { DeviceSelector } from './device-selector.ts';

export const DeviceClassConfiguration = object('io.k8s.api.resource.v1.DeviceClassConfiguration', 'Settings that devices of a class get.', {
  ...inlined(1, DeviceConfiguration),
});
export type DeviceClassConfiguration = Infer<typeof DeviceClassConfiguration>;

export const DeviceClassSpec = object('io.k8s.api.resource.v1.DeviceClassSpec', 'Which devices, and with what settings.', {
  selectors: field(1, listOf(DeviceSelector), 'What devices must satisfy; all of them.'),
  config: field(2, listOf(DeviceClassConfiguration), 'Settings that the driver gets.'),
  extendedResourceName: pointer(4, string, 'The extended resource with which pods can request these devices.'),
});
export type DeviceClassSpec = Infer<typeof DeviceClassSpec>;

export const DeviceClass = kind(
  {
    name: 'io.k8s.api.resource.v1.DeviceClass',
    group: 'resource.k8s.io',
    version: 'v1',
    kind: 'DeviceClass',
    resource: 'deviceclasses',
    namespaced: false,
  },
  'A class of devices for claims.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, DeviceClassSpec, 'Which devices.'),
  },
);
export type DeviceClass = Infer<typeof DeviceClass>;
