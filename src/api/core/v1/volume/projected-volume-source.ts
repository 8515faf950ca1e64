import { LabelSelector } from '../../../meta/v1/label-selector.ts';
import {
  always,
  bool,
  field,
  type Infer,
  inlined,
  int32,
  int64,
  listOf,
  mapOf,
  object,
  pointer,
  required,
  string,
} from '../../../schema.ts';
import { LocalObjectReference } from '../reference/local-object-reference.ts';
import { DownwardAPIVolumeFile } from './downward-api-volume-file.ts';
import { KeyToPath } from './key-to-path.ts';

export const SecretProjection = object('io.k8s.api.core.v1.SecretProjection', 'Keys of a Secret, as files.', {
  ...inlined(1, LocalObjectReference),
  items: field(2, listOf(KeyToPath), 'The keys to show, and where; all by default.'),
  optional: pointer(4, bool, 'Whether it may be missing.'),
});
export type SecretProjection = Infer<typeof SecretProjection>;

export const DownwardAPIProjection = object('io.k8s.api.core.v1.DownwardAPIProjection', 'Fields of the pod, as files.', {
  items: field(1, listOf(DownwardAPIVolumeFile), 'The files.'),
});
export type DownwardAPIProjection = Infer<typeof DownwardAPIProjection>;

export const ConfigMapProjection = object('io.k8s.api.core.v1.ConfigMapProjection', 'Keys of a ConfigMap, as files.', {
  ...inlined(1, LocalObjectReference),
  items: field(2, listOf(KeyToPath), 'The keys to show, and where; all by default.'),
  optional: pointer(4, bool, 'Whether it may be missing.'),
});
export type ConfigMapProjection = Infer<typeof ConfigMapProjection>;

export const ServiceAccountTokenProjection = object(
  'io.k8s.api.core.v1.ServiceAccountTokenProjection',
  "A token of the pod's service account, as a file. It is renewed in time.",
  {
    audience: field(1, string, 'Who the token is meant for; the API server by default.'),
    expirationSeconds: pointer(2, int64, 'How long it is good, at least 600. 3600 by default.'),
    path: required(3, string, 'The file, relative to the volume.'),
  },
);
export type ServiceAccountTokenProjection = Infer<typeof ServiceAccountTokenProjection>;

export const ClusterTrustBundleProjection = object(
  'io.k8s.api.core.v1.ClusterTrustBundleProjection',
  'Certificates of ClusterTrustBundles, as a file.',
  {
    name: pointer(1, string, 'The name.'),
    signerName: pointer(2, string, 'The bundles of a signer.'),
    labelSelector: pointer(3, LabelSelector, 'Labels of the bundles of the signer.'),
    optional: pointer(5, bool, 'Whether it may be missing.'),
    path: required(4, string, 'The file, relative to the volume.'),
  },
);
export type ClusterTrustBundleProjection = Infer<typeof ClusterTrustBundleProjection>;

export const PodCertificateProjection = object(
  'io.k8s.api.core.v1.PodCertificateProjection',
  'A key and a certificate issued for the pod, as files.',
  {
    signerName: field(1, string, 'Who signs.', { required: true }),
    keyType: field(2, string, 'The kind of key, such as ED25519 or ECDSAP256.', { required: true }),
    maxExpirationSeconds: pointer(3, int32, 'How long the certificate may be good.'),
    credentialBundlePath: field(4, string, 'The file for key and certificates together.'),
    keyPath: field(5, string, 'The file for the key.'),
    certificateChainPath: field(6, string, 'The file for the certificates.'),
    userAnnotations: field(7, mapOf(string), 'Additional values for the signer.'),
  },
);
export type PodCertificateProjection = Infer<typeof PodCertificateProjection>;

export const VolumeProjection = object(
  'io.k8s.api.core.v1.VolumeProjection',
  'One source of a projected volume. Exactly one member is set.',
  {
    secret: pointer(1, SecretProjection, 'Keys of a Secret.'),
    downwardAPI: pointer(2, DownwardAPIProjection, 'Fields of the pod.'),
    configMap: pointer(3, ConfigMapProjection, 'Keys of a ConfigMap.'),
    serviceAccountToken: pointer(4, ServiceAccountTokenProjection, "A token of the pod's service account."),
    clusterTrustBundle: pointer(5, ClusterTrustBundleProjection, 'Certificates of a ClusterTrustBundle.'),
    podCertificate: pointer(6, PodCertificateProjection, 'A key and a certificate issued for the pod.'),
  },
);
export type VolumeProjection = Infer<typeof VolumeProjection>;

export const ProjectedVolumeSource = object('io.k8s.api.core.v1.ProjectedVolumeSource', 'Several sources in one directory.', {
  sources: always(1, listOf(VolumeProjection), 'The sources.'),
  defaultMode: pointer(2, int32, 'The permission bits of the files. 0644 by default.'),
});
export type ProjectedVolumeSource = Infer<typeof ProjectedVolumeSource>;
