import { bootstrapSignerController, tokenCleanerController } from './bootstrap/controller.ts';
import { csrApprovingController, csrCleanerController, csrSigningController } from './certificates/controller.ts';
import { rootCaPublisherController } from './certificates/rootcacertpublisher/controller.ts';
import { clusterRoleAggregationController } from './clusterroleaggregation/controller.ts';
import { cronJobController } from './cronjob/controller.ts';
import { daemonSetController } from './daemon/controller.ts';
import { deploymentController } from './deployment/controller.ts';
import { deviceTaintEvictionController } from './devicetainteviction/controller.ts';
import { disruptionController } from './disruption/controller.ts';
import { endpointsController } from './endpoint/controller.ts';
import { endpointSliceController } from './endpointslice/controller.ts';
import { endpointSliceMirroringController } from './endpointslicemirroring/controller.ts';
import { garbageCollectorController } from './garbagecollector/controller.ts';
import { jobController } from './job/controller.ts';
import { namespaceController } from './namespace/controller.ts';
import { nodeIpamController } from './nodeipam/controller.ts';
import { nodeLifecycleController } from './nodelifecycle/controller.ts';
import { horizontalPodAutoscalerController } from './podautoscaler/controller.ts';
import { podGcController } from './podgc/controller.ts';
import { replicaSetController } from './replicaset/controller.ts';
import { replicationControllerController } from './replication/controller.ts';
import { resourceClaimController } from './resourceclaim/controller.ts';
import { resourceQuotaController } from './resourcequota/controller.ts';
import type { Controller } from './runtime/controller.ts';
import { serviceAccountController } from './serviceaccount/controller.ts';
import { legacyTokenCleanerController } from './serviceaccount/legacytokencleaner/controller.ts';
import { serviceAccountTokenController } from './serviceaccount/tokens/controller.ts';
import { serviceCidrController } from './servicecidrs/controller.ts';
import { statefulSetController } from './statefulset/controller.ts';
import { taintEvictionController } from './tainteviction/controller.ts';
import { ttlController } from './ttl/controller.ts';
import { ttlAfterFinishedController } from './ttlafterfinished/controller.ts';
import { validatingAdmissionPolicyStatusController } from './validatingadmissionpolicystatus/controller.ts';
import { attachDetachController } from './volume/attachdetach/controller.ts';
import { ephemeralVolumeController } from './volume/ephemeral/controller.ts';
import { persistentVolumeExpanderController } from './volume/expand/controller.ts';
import { persistentVolumeBinderController } from './volume/persistentvolume/controller.ts';
import { pvcProtectionController } from './volume/pvcprotection/controller.ts';
import { pvProtectionController } from './volume/pvprotection/controller.ts';
import { vacProtectionController } from './volume/vacprotection/controller.ts';

/** All controllers, in start order. */
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
  attachDetachController,
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
  bootstrapSignerController,
  tokenCleanerController,
  legacyTokenCleanerController,
  validatingAdmissionPolicyStatusController,
];
