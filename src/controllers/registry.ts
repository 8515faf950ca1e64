import { csrApprovingController, csrCleanerController, csrSigningController } from './certificates/controller.ts';
import { clusterRoleAggregationController } from './clusterrole-aggregation/controller.ts';
import { cronJobController } from './cronjob/controller.ts';
import { daemonSetController } from './daemonset/controller.ts';
import { deploymentController } from './deployment/controller.ts';
import { deviceTaintEvictionController } from './devicetainteviction/controller.ts';
import { disruptionController } from './disruption/controller.ts';
import { endpointsController } from './endpoints/controller.ts';
import { endpointSliceController } from './endpointslice/controller.ts';
import { endpointSliceMirroringController } from './endpointslicemirroring/controller.ts';
import { ephemeralVolumeController } from './ephemeralvolume/controller.ts';
import { persistentVolumeExpanderController } from './expand/controller.ts';
import { garbageCollectorController } from './garbage-collector/controller.ts';
import { jobController } from './job/controller.ts';
import { namespaceController } from './namespace/controller.ts';
import { nodeIpamController } from './nodeipam/controller.ts';
import { nodeLifecycleController } from './nodelifecycle/controller.ts';
import { persistentVolumeBinderController } from './persistentvolume/controller.ts';
import { horizontalPodAutoscalerController } from './podautoscaler/controller.ts';
import { podGcController } from './podgc/controller.ts';
import { pvcProtectionController } from './pvcprotection/controller.ts';
import { pvProtectionController } from './pvprotection/controller.ts';
import { replicaSetController } from './replicaset/controller.ts';
import { replicationControllerController } from './replicationcontroller/controller.ts';
import { resourceQuotaController } from './resource-quota/controller.ts';
import { resourceClaimController } from './resourceclaim/controller.ts';
import { rootCaPublisherController } from './root-ca-publisher/controller.ts';
import type { Controller } from './runtime/controller.ts';
import { serviceAccountController } from './serviceaccount/controller.ts';
import { serviceAccountTokenController } from './serviceaccount-token/controller.ts';
import { serviceCidrController } from './servicecidrs/controller.ts';
import { statefulSetController } from './statefulset/controller.ts';
import { taintEvictionController } from './tainteviction/controller.ts';
import { ttlController } from './ttl/controller.ts';
import { ttlAfterFinishedController } from './ttlafterfinished/controller.ts';
import { vacProtectionController } from './vacprotection/controller.ts';
import { validatingAdmissionPolicyStatusController } from './validatingadmissionpolicystatus/controller.ts';

/** Every controller there is, in the order in which they are started. */
export const CONTROLLERS: readonly Controller[] = [
  serviceAccountTokenController,
  serviceAccountController,
  serviceCidrController,
  rootCaPublisherController,
  namespaceController,
  garbageCollectorController,
  deploymentController,
  replicaSetController,
  replicationControllerController,
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  ttlController,
  statefulSetController,
  daemonSetController,
  horizontalPodAutoscalerController,
  disruptionController,
  cronJobController,
  ttlAfterFinishedController,
  jobController,
  taintEvictionController,
  deviceTaintEvictionController,
  podGcController,
  nodeIpamController,
  nodeLifecycleController,
  persistentVolumeBinderController,
  persistentVolumeExpanderController,
  resourceQuotaController,
  clusterRoleAggregationController,
  pvcProtectionController,
  pvProtectionController,
  vacProtectionController,
  ephemeralVolumeController,
  resourceClaimController,
  csrSigningController,
  csrApprovingController,
  csrCleanerController,
  validatingAdmissionPolicyStatusController,
];
