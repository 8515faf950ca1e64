import type { core } from '#api';
import type { VolumeCapability } from './messages.ts';

type Mode = NonNullable<VolumeCapability['accessMode']>['mode'];

export interface CapabilityOptions {
  readonly accessModes: readonly string[];
  readonly isBlock: boolean;
  readonly fsType: string;
  readonly mountOptions: readonly string[];
  /** For drivers that apply the fsGroup themselves. */
  readonly volumeMountGroup?: string | undefined;
  /** The driver supports SINGLE_NODE_MULTI_WRITER. */
  readonly knowsSingleNodeModes: boolean;
}

/** The CSI capability of a Kubernetes volume. */
export function volumeCapability(options: CapabilityOptions): VolumeCapability {
  const accessMode = { mode: modeOf(options.accessModes, options.knowsSingleNodeModes) };
  if (options.isBlock) return { block: {}, accessMode };
  const { fsType, mountOptions, volumeMountGroup = '' } = options;
  return { mount: { fsType, mountFlags: [...mountOptions], volumeMountGroup }, accessMode };
}

function modeOf(modes: readonly string[], knowsSingleNodeModes: boolean): Mode {
  if (modes.includes('ReadWriteMany')) return 'MULTI_NODE_MULTI_WRITER';
  if (modes.includes('ReadOnlyMany') && modes.includes('ReadWriteOnce')) return 'MULTI_NODE_SINGLE_WRITER';
  if (modes.includes('ReadOnlyMany')) return 'MULTI_NODE_READER_ONLY';
  if (modes.includes('ReadWriteOncePod')) return knowsSingleNodeModes ? 'SINGLE_NODE_SINGLE_WRITER' : 'SINGLE_NODE_WRITER';
  if (modes.includes('ReadWriteOnce')) return knowsSingleNodeModes ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER';
  return 'UNKNOWN';
}

export function isBlockVolume(volume: core.PersistentVolume | undefined): boolean {
  return volume?.spec?.volumeMode === 'Block';
}
