import type { FileSystemUsage } from '../volumes/volume-usage.ts';
import type { CsiDriver } from './csi-drivers.ts';
import { NodeGetVolumeStats } from './messages.ts';

export interface CsiUsageRequest {
  readonly volumeId: string;
  readonly volumePath: string;
  readonly stagingTargetPath: string;
}

/** The driver's usage report. Missing or negative inode figures become 0. */
export async function csiUsage(driver: CsiDriver, request: CsiUsageRequest, signal: AbortSignal): Promise<FileSystemUsage> {
  const { usage } = await driver.call(NodeGetVolumeStats, request, signal);
  const of = (unit: 'BYTES' | 'INODES') => usage.find((entry) => entry.unit === unit) ?? { available: 0, total: 0, used: 0 };
  const [bytes, inodes] = [of('BYTES'), of('INODES')];
  return {
    capacityBytes: positive(bytes.total),
    availableBytes: positive(bytes.available),
    usedBytes: positive(bytes.used),
    inodes: positive(inodes.total),
    inodesFree: positive(inodes.available),
    inodesUsed: positive(inodes.used),
  };
}

function positive(value: number): number {
  return Math.max(0, value);
}
