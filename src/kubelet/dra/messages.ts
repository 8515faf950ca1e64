import { embedded, enumeration, field, type MessageOf, message, repeated } from '#base';

/** Messages of the DRA plugin API, with the published field numbers; v1 and v1beta1 have the same wire format. */
const Claim = message({ namespace: field(1, 'string'), uid: field(2, 'string'), name: field(3, 'string') });
export type ClaimReference = MessageOf<typeof Claim>;

const Device = message({
  requestNames: repeated(1, 'string'),
  poolName: field(2, 'string'),
  deviceName: field(3, 'string'),
  cdiDeviceIds: repeated(4, 'string'),
});
export type PreparedDevice = MessageOf<typeof Device>;

const ClaimsRequest = message({ claims: repeated(1, Claim) });
const PrepareResult = message({ devices: repeated(1, Device), error: field(2, 'string') });
const UnprepareResult = message({ error: field(1, 'string') });

export const DRA_VERSIONS = ['v1', 'v1beta1'] as const;
export type DraVersion = (typeof DRA_VERSIONS)[number];

/** The service name in plugin registrations. */
export function draService(version: DraVersion): string {
  return `${version}.DRAPlugin`;
}

/** The service by which plugins report the health of their devices; both versions are the same on the wire. */
export const HEALTH_SERVICES = ['v1beta1.DRAResourceHealth', 'v1alpha1.DRAResourceHealth'] as const;
export type HealthService = (typeof HEALTH_SERVICES)[number];

const DeviceIdentifier = message({ poolName: field(1, 'string'), deviceName: field(2, 'string') });
const DeviceHealthMessage = message({
  device: embedded(1, DeviceIdentifier),
  health: field(2, enumeration('UNKNOWN', 'HEALTHY', 'UNHEALTHY')),
  lastUpdatedTime: field(3, 'int64'),
  healthCheckTimeoutSeconds: field(4, 'int64'),
  message: field(5, 'string'),
});
export type HealthReport = MessageOf<typeof DeviceHealthMessage>;

export function watchResources(service: HealthService) {
  return { name: `${service}/NodeWatchResources`, request: message({}), response: message({ devices: repeated(1, DeviceHealthMessage) }) };
}

export function prepareResources(version: DraVersion) {
  return {
    name: `k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin/NodePrepareResources`,
    request: ClaimsRequest,
    // A map keyed by claim uid.
    response: message({ claims: repeated(1, message({ key: field(1, 'string'), value: embedded(2, PrepareResult) })) }),
  };
}

export function unprepareResources(version: DraVersion) {
  return {
    name: `k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin/NodeUnprepareResources`,
    request: ClaimsRequest,
    response: message({ claims: repeated(1, message({ key: field(1, 'string'), value: embedded(2, UnprepareResult) })) }),
  };
}
