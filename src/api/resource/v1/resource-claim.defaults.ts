import { fillZero, mapField, mapItems } from '../../defaulting.ts';
import type { DeviceToleration } from './device-toleration.ts';
import type { ResourceClaim } from './resource-claim.ts';
import type { DeviceRequest, DeviceSubRequest, ExactDeviceRequest, ResourceClaimSpec } from './resource-claim-spec.ts';
import type { ResourceClaimTemplate } from './resource-claim-template.ts';

export function defaultResourceClaim(claim: ResourceClaim): ResourceClaim {
  const withSpec = mapField(claim, 'spec', defaultSpec);
  return mapField(withSpec, 'status', (status) =>
    mapField(status, 'allocation', (allocation) =>
      mapField(allocation, 'devices', (devices) =>
        mapField(devices, 'results', (results) => mapItems(results, (result) => mapField(result, 'tolerations', defaultTolerations))),
      ),
    ),
  );
}

export function defaultResourceClaimTemplate(template: ResourceClaimTemplate): ResourceClaimTemplate {
  return mapField(template, 'spec', (spec) => mapField(spec, 'spec', defaultSpec));
}

function defaultSpec(spec: ResourceClaimSpec): ResourceClaimSpec {
  return mapField(spec, 'devices', (devices) => mapField(devices, 'requests', (requests) => mapItems(requests, defaultRequest)));
}

function defaultRequest(request: DeviceRequest): DeviceRequest {
  const withExactly = mapField(request, 'exactly', defaultAmount<ExactDeviceRequest>);
  return mapField(withExactly, 'firstAvailable', (requests) => mapItems(requests, defaultAmount<DeviceSubRequest>));
}

function defaultAmount<T extends ExactDeviceRequest>(request: T): T {
  const withMode = fillZero(request, { allocationMode: 'ExactCount' } as Partial<T>);
  const counted = withMode.allocationMode === 'ExactCount' ? fillZero(withMode, { count: 1 } as Partial<T>) : withMode;
  return mapField(counted, 'tolerations', (tolerations) => defaultTolerations(tolerations) as NonNullable<T['tolerations']>);
}

function defaultTolerations(tolerations: readonly DeviceToleration[]): readonly DeviceToleration[] {
  return mapItems(tolerations, (toleration) => fillZero(toleration, { operator: 'Equal' }));
}
