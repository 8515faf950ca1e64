import { field, type MessageOf, message, repeated, stringMap } from '#base';

/** Messages of the device plugin API v1beta1, with the published field numbers. */
const NOTHING = message({});
const Options = message({ preStartRequired: field(1, 'bool'), getPreferredAllocationAvailable: field(2, 'bool') });
export type DevicePluginOptions = MessageOf<typeof Options>;

const Device = message({
  id: field(1, 'string'),
  health: field(2, 'string'),
  topology: field(3, message({ nodes: repeated(1, message({ id: field(1, 'int64') })) })),
});
export type PluginDevice = MessageOf<typeof Device>;

const ContainerAllocation = message({
  envs: stringMap(1),
  mounts: repeated(2, message({ containerPath: field(1, 'string'), hostPath: field(2, 'string'), readOnly: field(3, 'bool') })),
  devices: repeated(3, message({ containerPath: field(1, 'string'), hostPath: field(2, 'string'), permissions: field(3, 'string') })),
  annotations: stringMap(4),
  cdiDevices: repeated(5, message({ name: field(1, 'string') })),
});
export type ContainerAllocation = MessageOf<typeof ContainerAllocation>;

export const DEVICE_API_VERSION = 'v1beta1';
export const HEALTHY = 'Healthy';

export const Register = {
  name: 'v1beta1.Registration/Register',
  request: message({
    version: field(1, 'string'),
    endpoint: field(2, 'string'),
    resourceName: field(3, 'string'),
    options: field(4, Options),
  }),
  response: NOTHING,
};

export const GetDevicePluginOptions = { name: 'v1beta1.DevicePlugin/GetDevicePluginOptions', request: NOTHING, response: Options };

export const ListAndWatch = {
  name: 'v1beta1.DevicePlugin/ListAndWatch',
  request: NOTHING,
  response: message({ devices: repeated(1, Device) }),
};

export const GetPreferredAllocation = {
  name: 'v1beta1.DevicePlugin/GetPreferredAllocation',
  request: message({
    containerRequests: repeated(
      1,
      message({
        availableDeviceIds: repeated(1, 'string'),
        mustIncludeDeviceIds: repeated(2, 'string'),
        allocationSize: field(3, 'int32'),
      }),
    ),
  }),
  response: message({ containerResponses: repeated(1, message({ deviceIds: repeated(1, 'string') })) }),
};

export const Allocate = {
  name: 'v1beta1.DevicePlugin/Allocate',
  request: message({ containerRequests: repeated(1, message({ deviceIds: repeated(1, 'string') })) }),
  response: message({ containerResponses: repeated(1, ContainerAllocation) }),
};

export const PreStartContainer = {
  name: 'v1beta1.DevicePlugin/PreStartContainer',
  request: message({ deviceIds: repeated(1, 'string') }),
  response: NOTHING,
};
