import { pushAll } from '#base';
import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { validateNodeSelector } from '../../core/v1/node-selector/node-selector.validation.ts';
import { immutable, sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateInterfaceAddress } from '../../ip.validation.ts';
import { validateConditions } from '../../meta/v1/condition.validation.ts';
import { METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { validateItems, validateSet } from './bounded-items.ts';
import { validateBindingConditions } from './device.validation.ts';
import { validateDriverName, validateLabelLike, validatePoolName, validateShareId } from './device-names.validation.ts';
import {
  MAX_CONFIGS,
  requestNames,
  validateConfiguration,
  validateDeviceClaim,
  validateRawObject,
  validateRequestRef,
  validateRequestRefs,
} from './device-request.validation.ts';
import {
  type AllocatedDeviceStatus,
  AllocationResult,
  type NetworkDeviceData,
  type ResourceClaim,
  type ResourceClaimConsumerReference,
  type ResourceClaimStatus,
} from './resource-claim.ts';
import { ResourceClaimSpec } from './resource-claim-spec.ts';

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const MAX_CONDITIONS = 8;
const MAX_DATA_LENGTH = 10 * 1024;
const MAX_IPS = 16;
const MAX_INTERFACE_NAME = 256;
const MAX_HARDWARE_ADDRESS = 128;
const CONFIG_SOURCES = ['FromClaim', 'FromClass'];
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };
const SPEC = Path.of('spec');
const STATUS = Path.of('status');

export function validateResourceClaim({ metadata, spec }: ResourceClaim): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  validateDeviceClaim(spec?.devices, FieldReport.on(SPEC, errors).child('devices'));
  return errors;
}

/** The spec is immutable, so it is not validated again. */
export function validateResourceClaimUpdate({ metadata, spec }: ResourceClaim, old: ResourceClaim): FieldError[] {
  return [
    ...validateObjectMeta(metadata, META),
    ...validateObjectMetaUpdate(metadata, old.metadata),
    ...immutable(SPEC, { value: spec, old: old.spec, printed: goStruct(ResourceClaimSpec, spec ?? {}) }),
  ];
}

export function validateResourceClaimStatus({ metadata, spec, status = {} }: ResourceClaim, old: ResourceClaim): FieldError[] {
  const errors = validateObjectMetaUpdate(metadata, old.metadata, { path: METADATA });
  const at = FieldReport.on(STATUS, errors);
  validateSet(status.reservedFor, at.child('reservedFor'), {
    max: MAX_CONSUMERS,
    item: validateConsumer,
    keyOf: ({ uid }) => uid ?? '',
  });
  validateDevices(status, at.child('devices'));
  validateReservation(status, old, { at: at.child('reservedFor'), isDeleted: Boolean(metadata.deletionTimestamp) });
  const names = requestNames(spec?.devices);
  const before = old.status?.allocation;
  if (status.allocation && before) pushAll(errors, validateAllocationUpdate(status.allocation, before));
  else if (status.allocation) validateAllocation(status.allocation, at.child('allocation'), names);
  return errors;
}

function validateConsumer({ resource, name, uid }: ResourceClaimConsumerReference, at: FieldReport): void {
  if (!resource) at.child('resource').required();
  if (!name) at.child('name').required();
  if (!uid) at.child('uid').required();
}

interface ReservationContext {
  readonly at: FieldReport;
  readonly isDeleted: boolean;
}

/** Unallocated claims cannot be reserved, nor claims that are being deleted. */
function validateReservation(status: ResourceClaimStatus, old: ResourceClaim, { at, isDeleted }: ReservationContext): void {
  const consumers = status.reservedFor ?? [];
  if (consumers.length === 0) return;
  if (!status.allocation) {
    at.forbidden('may not be specified when `allocated` is not set');
    return;
  }
  const before = old.status?.reservedFor ?? [];
  const hasNew = consumers.some((consumer) => !before.some((candidate) => sameValue(candidate, consumer)));
  if (isDeleted && hasNew) at.forbidden('new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set');
}

function validateAllocationUpdate(allocation: AllocationResult, old: AllocationResult): readonly FieldError[] {
  return immutable(STATUS.child('allocation'), { value: allocation, old, printed: goStruct(AllocationResult, allocation) });
}

/** A device and its share id: the identity of a claim's devices, as upstream prints it. */
function identityOf({ driver = '', pool = '', device = '', shareID = '' }: DeviceRef): object {
  return { Driver: driver, Pool: pool, Device: device, ShareID: shareID };
}

interface DeviceRef {
  readonly driver?: string | undefined;
  readonly pool?: string | undefined;
  readonly device?: string | undefined;
  readonly shareID?: string | undefined;
}

/** The identity of a claim's device as text. */
export function deviceKey(device: DeviceRef): string {
  return JSON.stringify(identityOf(device));
}

function validateDevices({ devices, allocation }: ResourceClaimStatus, at: FieldReport): void {
  const allocated = new Set((allocation?.devices?.results ?? []).map(deviceKey));
  validateSet(devices, at, { item: (device, at) => validateDeviceStatus(device, at, allocated), keyOf: identityOf });
}

function validateDeviceStatus(device: AllocatedDeviceStatus, at: FieldReport, allocated: ReadonlySet<string>): void {
  validateDriverName(device.driver, at.child('driver'));
  validatePoolName(device.pool, at.child('pool'));
  validateLabelLike(device.device, at.child('device'));
  if (device.shareID !== undefined) validateShareId(device.shareID, at.child('shareID'));
  if (!allocated.has(deviceKey(device))) at.invalid(identityOf(device), 'must be an allocated device in the claim');
  const conditions = device.conditions ?? [];
  if (conditions.length > MAX_CONDITIONS) at.child('conditions').tooMany(conditions.length, MAX_CONDITIONS);
  at.add(validateConditions(conditions, at.child('conditions').path));
  if (device.data !== undefined) validateRawObject(device.data, at.child('data'), MAX_DATA_LENGTH);
  if (device.networkData) validateNetworkData(device.networkData, at.child('networkData'));
}

function validateNetworkData({ interfaceName = '', hardwareAddress = '', ips }: NetworkDeviceData, at: FieldReport): void {
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE_NAME) at.child('interfaceName').tooLong(MAX_INTERFACE_NAME);
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE_ADDRESS) at.child('hardwareAddress').tooLong(MAX_HARDWARE_ADDRESS);
  const item = (ip: string, at: FieldReport) => at.add(validateInterfaceAddress(at.path, ip));
  validateSet(ips, at.child('ips'), { max: MAX_IPS, item, keyOf: (ip) => ip });
}

function validateAllocation({ devices, nodeSelector }: AllocationResult, at: FieldReport, names: ReadonlySet<string>): void {
  const field = at.child('devices');
  validateItems(devices?.results, field.child('results'), {
    max: MAX_RESULTS,
    item: (result, at) => {
      validateRequestRef(result.request ?? '', at.child('request'), names);
      validateDriverName(result.driver, at.child('driver'));
      validatePoolName(result.pool, at.child('pool'));
      validateLabelLike(result.device, at.child('device'));
      validateBindingConditions(result, at);
      if (result.shareID !== undefined) validateShareId(result.shareID, at.child('shareID'));
    },
  });
  validateItems(devices?.config, field.child('config'), {
    // Configurations of the classes and of the claim.
    max: 2 * MAX_CONFIGS,
    item: ({ source, requests, opaque }, at) => {
      if (source) at.child('source').oneOf(source, CONFIG_SOURCES);
      else at.child('source').required();
      validateRequestRefs(requests, at.child('requests'), names);
      validateConfiguration(opaque, at);
    },
  });
  if (nodeSelector) validateNodeSelector(nodeSelector, at.child('nodeSelector'));
}
