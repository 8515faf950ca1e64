import type { Clock, Random } from '#base';
import type { ImageMounts } from '../../containerd/image-mounts.ts';
import type { Mounter } from '../mount/mounter.ts';
import type { PodTokens } from '../payload/pod-tokens.ts';
import type { PodCertificates } from '../pod-certificates.ts';
import type { ReferencedObjects } from '../referenced-objects.ts';
import type { TrustBundles } from '../trust-bundles.ts';

/** The dependencies of volume plugins. */
export interface PluginDeps {
  readonly mounter: Mounter;
  readonly clock: Clock;
  readonly random: Random;
  readonly objects: ReferencedObjects;
  readonly tokens: PodTokens;
  readonly trustBundles: TrustBundles;
  readonly certificates: PodCertificates;
  /** Absent: the runtime mounts images itself. */
  readonly imageMounts?: ImageMounts | undefined;
  /** The node's allocatable resources. */
  allocatable(): Readonly<Record<string, string>> | undefined;
}
