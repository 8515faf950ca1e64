import type { core } from '#api';
import { Quantity } from '#machinery';
import { migratedDriver, migratedPluginOf } from '../migrated-plugins.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

/** On a volume: its size before the expansion, until the file system is expanded too. */
const PRE_RESIZE_CAPACITY = 'volume.alpha.kubernetes.io/pre-resize-capacity';
/** On a claim: the driver that expands its volume. */
export const RESIZER = 'volume.kubernetes.io/storage-resizer';

/** Whether the request or the capacity has grown. */
export function hasGrown(old: Claim, claim: Claim): boolean {
  return compareSizes(requested(claim), requested(old)) > 0 || compareSizes(capacityOf(claim), capacityOf(old)) > 0;
}

export interface Expansion {
  readonly message: string;
  /** The driver to name on the claim. */
  readonly resizer?: string;
}

/** The events and the resizer of a claim that requests more than it has. Expansion is done by drivers only. */
export function expansionOf(claim: Claim, volume: Volume): Expansion | undefined {
  const isWanted =
    compareSizes(requested(claim), capacityOf(claim)) > 0 || volume.metadata.annotations?.[PRE_RESIZE_CAPACITY] !== undefined;
  if (!isWanted) return undefined;
  const plugin = migratedPluginOf(volume);
  const resizer = plugin && migratedDriver(plugin);
  if (resizer === undefined) return { message: 'waiting for an external controller to expand this PVC' };
  return { message: `CSI migration enabled for ${plugin}; waiting for external resizer to expand the pvc`, resizer };
}

export function isBoundTo({ metadata }: Claim, { spec }: Volume): boolean {
  return spec?.claimRef?.uid === metadata.uid && spec?.claimRef?.namespace === metadata.namespace;
}

function requested({ spec }: Claim): string {
  return spec?.resources?.requests?.storage ?? '0';
}

function capacityOf({ status }: Claim): string {
  return status?.capacity?.storage ?? '0';
}

function compareSizes(a: string, b: string): number {
  return Quantity.parse(a).compare(Quantity.parse(b));
}
