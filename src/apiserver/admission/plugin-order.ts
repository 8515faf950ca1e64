import type { AdmissionPlugin } from './admission.ts';

/** This server's plugins in upstream's execution order, independent of the order of flags. */
export const PLUGIN_ORDER = [
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'PodTopologyLabels',
  'NodeDeclaredFeatureValidator',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
] as const;

export type PluginName = (typeof PLUGIN_ORDER)[number];

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
