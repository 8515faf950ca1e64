import { always, type FieldDefinitions, type Infer, object, string } from '../../schema.ts';
import * as v1 from '../v1/resource-claim-spec.ts';

const exact = v1.ExactDeviceRequest.definitions;
const { name, firstAvailable } = v1.DeviceRequest.definitions;

/** In this version requests without alternatives have no message of their own. */
export const DeviceRequest = object('io.k8s.api.resource.v1beta1.DeviceRequest', v1.DeviceRequest.description, {
  name,
  deviceClassName: always(2, string, exact.deviceClassName.description),
  selectors: numbered(exact.selectors, 3),
  allocationMode: numbered(exact.allocationMode, 4),
  count: numbered(exact.count, 5),
  adminAccess: numbered(exact.adminAccess, 6),
  firstAvailable: numbered(firstAvailable, 7),
  tolerations: numbered(exact.tolerations, 8),
  capacity: numbered(exact.capacity, 9),
});
export type DeviceRequest = Infer<typeof DeviceRequest>;

/** The same field with another protobuf number. */
export function numbered<D extends FieldDefinitions[string]>(definition: D, number: number): D {
  return { ...definition, number };
}
