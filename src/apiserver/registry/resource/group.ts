import { resourceV1beta1 as v1beta1, resourceV1beta2 as v1beta2 } from '#api';
import { type RegistryGroup, registryGroup, type SpecConversion, versionOf, withVersions } from '../generic/registry-group.ts';
import { deviceClassesStrategy } from './device-classes.ts';
import { deviceTaintRulesStrategy, resourcePoolStatusRequestsStrategy } from './device-taint-rules.ts';
import { resourceClaimsStrategy, resourceClaimTemplatesStrategy } from './resource-claims.ts';
import { resourceSlicesStrategy } from './resource-slices.ts';

const CLAIM: SpecConversion = { toStored: v1beta1.claimSpecToV1, fromStored: v1beta1.claimSpecFromV1 };
const TEMPLATE: SpecConversion = {
  toStored: ({ spec, ...rest }: ClaimTemplate) => ({ ...rest, spec: v1beta1.claimSpecToV1(spec) }),
  fromStored: ({ spec, ...rest }: V1ClaimTemplate) => ({ ...rest, spec: v1beta1.claimSpecFromV1(spec) }),
};
const SLICE: SpecConversion = { toStored: v1beta1.sliceSpecToV1, fromStored: v1beta1.sliceSpecFromV1 };

interface ClaimTemplate {
  readonly spec: Parameters<typeof v1beta1.claimSpecToV1>[0];
}
interface V1ClaimTemplate {
  readonly spec: Parameters<typeof v1beta1.claimSpecFromV1>[0];
}

export const RESOURCE: RegistryGroup = withVersions(
  registryGroup([
    deviceClassesStrategy,
    resourceClaimTemplatesStrategy,
    resourceClaimsStrategy,
    resourceSlicesStrategy,
    deviceTaintRulesStrategy,
    resourcePoolStatusRequestsStrategy,
  ]),
  versionOf(deviceClassesStrategy, v1beta2.DeviceClass),
  versionOf(resourceClaimTemplatesStrategy, v1beta2.ResourceClaimTemplate),
  versionOf(resourceClaimsStrategy, v1beta2.ResourceClaim),
  versionOf(resourceSlicesStrategy, v1beta2.ResourceSlice),
  versionOf(deviceTaintRulesStrategy, v1beta2.DeviceTaintRule),
  versionOf(deviceClassesStrategy, v1beta1.DeviceClass),
  versionOf(resourceClaimTemplatesStrategy, v1beta1.ResourceClaimTemplate, TEMPLATE),
  versionOf(resourceClaimsStrategy, v1beta1.ResourceClaim, CLAIM),
  versionOf(resourceSlicesStrategy, v1beta1.ResourceSlice, SLICE),
);
