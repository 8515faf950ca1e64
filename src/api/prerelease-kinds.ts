import * as admissionregistrationV1alpha1 from './admissionregistration/v1alpha1/index.ts';
import * as admissionregistrationV1beta1 from './admissionregistration/v1beta1/index.ts';
import * as apiserverinternalV1alpha1 from './apiserverinternal/v1alpha1/index.ts';
import * as certificatesV1alpha1 from './certificates/v1alpha1/index.ts';
import * as certificatesV1beta1 from './certificates/v1beta1/index.ts';
import * as coordinationV1alpha2 from './coordination/v1alpha2/index.ts';
import * as coordinationV1beta1 from './coordination/v1beta1/index.ts';
import * as networkingV1beta1 from './networking/v1beta1/index.ts';
import * as resourceV1alpha3 from './resource/v1alpha3/index.ts';
import * as resourceV1beta1 from './resource/v1beta1/index.ts';
import * as resourceV1beta2 from './resource/v1beta2/index.ts';
import * as schedulingV1alpha2 from './scheduling/v1alpha2/index.ts';
import type { Kind } from './schema.ts';
import * as storageV1beta1 from './storage/v1beta1/index.ts';
import * as storagemigrationV1beta1 from './storagemigration/v1beta1/index.ts';

/** The beta and alpha kinds, served only if enabled. */
export const PRERELEASE_KINDS: readonly Kind<unknown>[] = [
  certificatesV1beta1.ClusterTrustBundle,
  certificatesV1alpha1.ClusterTrustBundle,
  certificatesV1beta1.PodCertificateRequest,
  networkingV1beta1.IPAddress,
  networkingV1beta1.ServiceCIDR,
  storageV1beta1.VolumeAttributesClass,
  admissionregistrationV1beta1.MutatingAdmissionPolicy,
  admissionregistrationV1beta1.MutatingAdmissionPolicyBinding,
  admissionregistrationV1alpha1.MutatingAdmissionPolicy,
  admissionregistrationV1alpha1.MutatingAdmissionPolicyBinding,
  coordinationV1beta1.LeaseCandidate,
  coordinationV1alpha2.LeaseCandidate,
  resourceV1beta2.DeviceClass,
  resourceV1beta2.ResourceClaim,
  resourceV1beta2.ResourceClaimTemplate,
  resourceV1beta2.ResourceSlice,
  resourceV1beta1.DeviceClass,
  resourceV1beta1.ResourceClaim,
  resourceV1beta1.ResourceClaimTemplate,
  resourceV1beta1.ResourceSlice,
  apiserverinternalV1alpha1.StorageVersion,
  storagemigrationV1beta1.StorageVersionMigration,
  resourceV1beta2.DeviceTaintRule,
  resourceV1alpha3.DeviceTaintRule,
  resourceV1alpha3.ResourcePoolStatusRequest,
  schedulingV1alpha2.PodGroup,
  schedulingV1alpha2.Workload,
];
