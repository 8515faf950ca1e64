import { type Infer, object, pointer } from '../../schema.ts';
import * as v1 from '../v1/resource-slice.ts';
import { numbered } from './device-request.ts';

const { name, ...device } = v1.Device.definitions;

export const BasicDevice = object('io.k8s.api.resource.v1.BasicDevice', v1.Device.description, {
  attributes: numbered(device.attributes, 1),
  capacity: numbered(device.capacity, 2),
  consumesCounters: numbered(device.consumesCounters, 3),
  nodeName: numbered(device.nodeName, 4),
  nodeSelector: numbered(device.nodeSelector, 5),
  allNodes: numbered(device.allNodes, 6),
  taints: numbered(device.taints, 7),
  bindsToNode: numbered(device.bindsToNode, 8),
  bindingConditions: numbered(device.bindingConditions, 9),
  bindingFailureConditions: numbered(device.bindingFailureConditions, 10),
  allowMultipleAllocations: numbered(device.allowMultipleAllocations, 11),
  nodeAllocatableResourceMappings: numbered(device.nodeAllocatableResourceMappings, 12),
});
export type BasicDevice = Infer<typeof BasicDevice>;

/** In this version a device's properties are wrapped in `basic`. */
export const Device = object('io.k8s.api.resource.v1beta1.Device', v1.Device.description, {
  name,
  basic: pointer(2, BasicDevice, 'What it is and has.'),
});
export type Device = Infer<typeof Device>;
