import type { AdmissionPlugin } from './admission.ts';

/** This server's plugins in upstream's execution order, independent of the order of flags. */
export const PLUGIN_ORDER = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'NodeDeclaredFeatureValidator',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
] as const;

export type PluginName = (typeof PLUGIN_ORDER)[number];

/** Plugins that run only where they are enabled. */
export const OPTIONAL_PLUGINS = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodNodeSelector',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'OwnerReferencesPermissionEnforcement',
  'DenyServiceExternalIPs',
  'AlwaysDeny',
] as const satisfies readonly PluginName[];

export type OptionalPluginName = (typeof OPTIONAL_PLUGINS)[number];

/** Parts of validation that need the authorizer. They run before the plugins and cannot be disabled. */
const VALIDATION: readonly string[] = ['ResourceClaimAuthorization', 'PodCertificateSigning', 'PolicyParameterAuthorization'];

/** The last step of ServiceAccount. Until then pods of one template are equal, so that work on their spec is shared. */
export const TOKEN_VOLUME_NAMES = 'ServiceAccountTokenVolumeNames';
const USERS_PLUGINS = PLUGIN_ORDER.indexOf('MutatingAdmissionPolicy');

/** Plugins that are not in the list run last and cannot be disabled. */
export function orderedPlugins(plugins: readonly AdmissionPlugin[], disabled: readonly string[] = []): readonly AdmissionPlugin[] {
  const place = ({ name }: AdmissionPlugin) => {
    if (VALIDATION.includes(name)) return -1;
    if (name === TOKEN_VOLUME_NAMES) return USERS_PLUGINS - 0.5;
    const index = (PLUGIN_ORDER as readonly string[]).indexOf(name);
    return index < 0 ? PLUGIN_ORDER.length : index;
  };
  return plugins.filter(({ name }) => !disabled.includes(name)).toSorted((a, b) => place(a) - place(b));
}
