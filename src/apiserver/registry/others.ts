import { ADMISSION_REGISTRATION_STRATEGIES } from './admissionregistration/admission-registration.ts';
import { apiServicesStrategy } from './apiregistration/api-services.ts';
import { certificateSigningRequestsStrategy } from './certificates/certificate-signing-requests.ts';
import { leasesStrategy } from './coordination/leases.ts';
import { CORE_STRATEGIES } from './core.ts';
import { flowSchemasStrategy, priorityLevelConfigurationsStrategy } from './flowcontrol/flow-control.ts';
import { NETWORKING_STRATEGIES } from './networking.ts';
import { runtimeClassesStrategy } from './node/runtime-classes.ts';
import { RBAC_STRATEGIES } from './rbac.ts';
import { deviceClassesStrategy } from './resource/device-classes.ts';
import { resourceClaimsStrategy, resourceClaimTemplatesStrategy } from './resource/resource-claims.ts';
import { resourceSlicesStrategy } from './resource/resource-slices.ts';
import { REVIEW_STRATEGIES } from './reviews.ts';
import { priorityClassesStrategy } from './scheduling/priority-classes.ts';
import { STORAGE_STRATEGIES } from './storage.ts';

/** Every kind but workloads and custom resource definitions. */
export const OTHER_STRATEGIES = [
  ...CORE_STRATEGIES,
  ...NETWORKING_STRATEGIES,
  ...RBAC_STRATEGIES,
  ...STORAGE_STRATEGIES,
  priorityClassesStrategy,
  leasesStrategy,
  runtimeClassesStrategy,
  flowSchemasStrategy,
  priorityLevelConfigurationsStrategy,
  certificateSigningRequestsStrategy,
  apiServicesStrategy,
  deviceClassesStrategy,
  resourceClaimsStrategy,
  resourceClaimTemplatesStrategy,
  resourceSlicesStrategy,
  ...ADMISSION_REGISTRATION_STRATEGIES,
  ...REVIEW_STRATEGIES,
] as const;
