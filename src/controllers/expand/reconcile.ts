import type { core } from '#api';
import { Quantity } from '#machinery';
import { migratedDriver, migratedPluginOf } from '../persistentvolume/migrated-plugins.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

/** On a volume: its size before it grew, until the file system on it has grown too. */
const PRE_RESIZE_CAPACITY = 'volume.alpha.kubernetes.io/pre-resize-capacity';
/** On a claim: who is to make its volume larger. */
export const RESIZER = 'volume.kubernetes.io/storage-resizer';

/** Its user asked for more, or it has got more. */
export function hasGrown(old: Claim, claim: Claim): boolean {
  return compareSizes(requested(claim), requested(old)) > 0 || compareSizes(held(claim), held(old)) > 0;
}

export interface Expansion {
  readonly message: string;
  /** The driver that is to be named on the claim. */
  readonly resizer?: string;
}

/** What is to be told of a claim that wants more than it has. Nothing is built in that makes volumes larger: drivers do. */
export function expansionOf(claim: Claim, volume: Volume): Expansion | undefined {
  const isWanted = compareSizes(requested(claim), held(claim)) > 0 || volume.metadata.annotations?.[PRE_RESIZE_CAPACITY] !== undefined;
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

function held({ status }: Claim): string {
  return status?.capacity?.storage ?? '0';
}

function compareSizes(a: string, b: string): number {
  return Quantity.parse(a).compare(Quantity.parse(b));
}
