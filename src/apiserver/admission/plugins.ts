import type { AdmissionPlugin } from './admission.ts';
import type { PluginConfigurations } from './configuration/admission-configuration.ts';
import { defaultIngressClass } from './plugins/default-ingress-class.ts';
import { defaultStorageClass } from './plugins/default-storage-class.ts';
import { defaultTolerationSeconds, type TolerationDefaults } from './plugins/default-toleration-seconds.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { nodeDeclaredFeatureValidator } from './plugins/node-declared-feature-validator.ts';
import { nodeRestriction } from './plugins/node-restriction.ts';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import type { PluginDeps } from './plugins/plugin-deps.ts';
import { podCertificateSigning } from './plugins/pod-certificate-signing.ts';
import { podResizeValidator } from './plugins/pod-resize-validator.ts';
import { podSecurity } from './plugins/pod-security.ts';
import { podTopologyLabels } from './plugins/pod-topology-labels.ts';
import { policyParameterAuthorization } from './plugins/policy-parameter-authorization.ts';
import { priority } from './plugins/priority.ts';
import { resourceClaimAuthorization } from './plugins/resource-claim-authorization.ts';
import { resourceQuota } from './plugins/resource-quota.ts';
import { runtimeClass } from './plugins/runtime-class.ts';
import { serviceAccount, tokenVolumeNames } from './plugins/service-account.ts';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts';
import { mutatingAdmissionPolicy } from './policies/mutating-admission-policy.ts';
import type { PolicyDeps } from './policies/policy-context.ts';
import { validatingAdmissionPolicy } from './policies/validating-admission-policy.ts';
import { mutatingAdmissionWebhook } from './webhooks/mutating-admission-webhook.ts';
import { validatingAdmissionWebhook } from './webhooks/validating-admission-webhook.ts';
import type { WebhookDeps } from './webhooks/webhook-context.ts';

export interface BuiltInPluginOptions {
  readonly tolerations?: TolerationDefaults;
  readonly plugins?: PluginConfigurations;
}

/** Every admission plugin that is on by default, in the order in which they run. */
export function builtInPlugins(
  deps: PluginDeps & PolicyDeps & WebhookDeps,
  { tolerations, plugins }: BuiltInPluginOptions = {},
): readonly AdmissionPlugin[] {
  return [
    resourceClaimAuthorization(deps),
    podCertificateSigning(deps),
    policyParameterAuthorization(deps),
    namespaceLifecycle(deps),
    limitRanger(deps),
    serviceAccount(deps),
    nodeRestriction(deps),
    taintNodesByCondition,
    podSecurity(deps, plugins?.PodSecurity),
    priority(deps),
    defaultTolerationSeconds(tolerations),
    defaultStorageClass(deps),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(deps),
    runtimeClass(deps),
    defaultIngressClass(deps),
    podTopologyLabels(deps),
    nodeDeclaredFeatureValidator(deps),
    podResizeValidator(deps),
    tokenVolumeNames(deps),
    mutatingAdmissionPolicy(deps),
    mutatingAdmissionWebhook(deps),
    validatingAdmissionPolicy(deps),
    validatingAdmissionWebhook(deps),
    resourceQuota(deps),
  ];
}
