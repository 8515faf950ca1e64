import { resource } from '#api';
import { formatTime } from '#machinery';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';

type Slice = resource.ResourceSlice;
type Devices = readonly resource.Device[];

/** Sets the time of new taints. */
function withTimes(devices: Devices, now: number): Devices {
  const isTimed = devices.every(({ taints }) => taints?.every(({ timeAdded }) => timeAdded) ?? true);
  if (isTimed) return devices;
  const timeAdded = formatTime(now);
  return devices.map((device) => (device.taints ? { ...device, taints: device.taints.map((taint) => ({ timeAdded, ...taint })) } : device));
}

/** Drops fields of disabled features, unless they are already stored. */
function withoutUnofferedFields(devices: Devices, old: Devices): Devices {
  const keepsLists = old.some(hasLists);
  const keepsMappings = old.some(hasMappings);
  return devices.map((device) => {
    const unlisted = !keepsLists && hasLists(device) ? { ...device, attributes: withoutLists(device.attributes ?? {}) } : device;
    if (keepsMappings || !hasMappings(unlisted)) return unlisted;
    const { nodeAllocatableResourceMappings: _, ...rest } = unlisted;
    return rest;
  });
}

function hasLists({ attributes = {} }: resource.Device): boolean {
  return Object.values(attributes).some(({ bools, ints, strings, versions }) => bools ?? ints ?? strings ?? versions);
}

function withoutLists(attributes: NonNullable<resource.Device['attributes']>): NonNullable<resource.Device['attributes']> {
  const single = ({ bools: _b, ints: _i, strings: _s, versions: _v, ...rest }: resource.DeviceAttribute) => rest;
  return Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, single(attribute)]));
}

function hasMappings({ nodeAllocatableResourceMappings: mappings = {} }: resource.Device): boolean {
  return Object.keys(mappings).length > 0;
}

function prepare(slice: Slice, { now }: RequestScope, old?: Slice): Slice {
  const devices = slice.spec?.devices;
  if (!devices) return slice;
  return { ...slice, spec: { ...slice.spec, devices: withoutUnofferedFields(withTimes(devices, now), old?.spec?.devices ?? []) } };
}

function canonicalize(slice: Slice): Slice {
  const deviceList = slice.spec?.devices;
  const devices = deviceList && resource.withoutEmptyConditions(deviceList);
  return devices === deviceList ? slice : ({ ...slice, spec: { ...slice.spec, devices } } as Slice);
}

export const resourceSlicesStrategy: ResourceStrategy<Slice> = {
  ...resource.resourceSliceBehaviour,
  tracksGeneration: true,
  canonicalize,
  prepareForCreate: (slice, scope) => prepare(slice, scope),
  prepareForUpdate: (slice, old, scope) => prepare(slice, scope, old),
  fieldLabelError: (field) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
  returnsDeletedObject: true,
};
