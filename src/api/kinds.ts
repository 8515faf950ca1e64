import * as admissionregistration from './admissionregistration/v1/index.ts';
import * as apiextensions from './apiextensions/v1/index.ts';
import * as apiregistration from './apiregistration/v1/index.ts';
import * as apps from './apps/v1/index.ts';
import * as authentication from './authentication/v1/index.ts';
import * as authorization from './authorization/v1/index.ts';
import * as autoscaling from './autoscaling/v1/index.ts';
import * as autoscalingV2 from './autoscaling/v2/index.ts';
import * as batch from './batch/v1/index.ts';
import * as certificates from './certificates/v1/index.ts';
import * as coordination from './coordination/v1/index.ts';
import * as core from './core/v1/index.ts';
import * as discovery from './discovery/v1/index.ts';
import * as events from './events/v1/index.ts';
import * as flowcontrol from './flowcontrol/v1/index.ts';
import * as networking from './networking/v1/index.ts';
import * as node from './node/v1/index.ts';
import * as policy from './policy/v1/index.ts';
import * as rbac from './rbac/v1/index.ts';
import * as resource from './resource/v1/index.ts';
import * as scheduling from './scheduling/v1/index.ts';
import type { Kind } from './schema.ts';
import * as storage from './storage/v1/index.ts';

/** Every kind that a default server serves as a resource, in discovery order. */
export const KINDS = [
  core.Binding,
  core.ComponentStatus,
  core.ConfigMap,
  core.Endpoints,
  core.Event,
  core.LimitRange,
  core.Namespace,
  core.Node,
  core.PersistentVolumeClaim,
  core.PersistentVolume,
  core.Pod,
  core.PodTemplate,
  core.ReplicationController,
  core.ResourceQuota,
  core.Secret,
  core.ServiceAccount,
  core.Service,
  apiregistration.APIService,
  apps.ControllerRevision,
  apps.DaemonSet,
  apps.Deployment,
  apps.ReplicaSet,
  apps.StatefulSet,
  events.Event,
  authentication.SelfSubjectReview,
  authentication.TokenReview,
  authorization.LocalSubjectAccessReview,
  authorization.SelfSubjectAccessReview,
  authorization.SelfSubjectRulesReview,
  authorization.SubjectAccessReview,
  autoscalingV2.HorizontalPodAutoscaler,
  autoscaling.HorizontalPodAutoscaler,
  batch.CronJob,
  batch.Job,
  certificates.CertificateSigningRequest,
  networking.IngressClass,
  networking.Ingress,
  networking.IPAddress,
  networking.NetworkPolicy,
  networking.ServiceCIDR,
  policy.PodDisruptionBudget,
  rbac.ClusterRoleBinding,
  rbac.ClusterRole,
  rbac.RoleBinding,
  rbac.Role,
  storage.CSIDriver,
  storage.CSINode,
  storage.CSIStorageCapacity,
  storage.StorageClass,
  storage.VolumeAttachment,
  storage.VolumeAttributesClass,
  admissionregistration.MutatingAdmissionPolicy,
  admissionregistration.MutatingAdmissionPolicyBinding,
  admissionregistration.MutatingWebhookConfiguration,
  admissionregistration.ValidatingAdmissionPolicy,
  admissionregistration.ValidatingAdmissionPolicyBinding,
  admissionregistration.ValidatingWebhookConfiguration,
  apiextensions.CustomResourceDefinition,
  scheduling.PriorityClass,
  coordination.Lease,
  node.RuntimeClass,
  discovery.EndpointSlice,
  resource.DeviceClass,
  resource.ResourceClaim,
  resource.ResourceClaimTemplate,
  resource.ResourceSlice,
  flowcontrol.FlowSchema,
  flowcontrol.PriorityLevelConfiguration,
] as const satisfies readonly Kind<unknown>[];
