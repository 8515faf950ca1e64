import type { AdmissionPlugin } from './admission.ts';

/** The plugins of this server in the order in which upstream runs them, whatever order flags name them in. */
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

/** Parts of validation that have to ask others. They come before plugins, as validation does, and cannot be turned off. */
const VALIDATION: readonly string[] = ['ResourceClaimAuthorization', 'PolicyParameterAuthorization'];

/** The last part of ServiceAccount: until users' own plugins run, pods of one template are all alike, and cost less for it. */
export const TOKEN_VOLUME_NAMES = 'ServiceAccountTokenVolumeNames';
const USERS_PLUGINS = PLUGIN_ORDER.indexOf('MutatingAdmissionPolicy');

/** Plugins that the order does not know run last: they check what is about to be granted, and cannot be turned off. */
export function orderedPlugins(plugins: readonly AdmissionPlugin[], disabled: readonly string[] = []): readonly AdmissionPlugin[] {
  const place = ({ name }: AdmissionPlugin) => {
    if (VALIDATION.includes(name)) return -1;
    if (name === TOKEN_VOLUME_NAMES) return USERS_PLUGINS - 0.5;
    const index = (PLUGIN_ORDER as readonly string[]).indexOf(name);
    return index < 0 ? PLUGIN_ORDER.length : index;
  };
  return plugins.filter(({ name }) => !disabled.includes(name)).toSorted((a, b) => place(a) - place(b));
}
