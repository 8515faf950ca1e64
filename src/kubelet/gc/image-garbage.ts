import type { Image } from '../cri/runtime.ts';

/** As in KubeletConfiguration. */
export interface ImageGcConfig {
  /** The minimum age of an image. Default 2 min. */
  readonly imageMinimumGCAgeMs?: number;
  /** The maximum age of an unused image; 0: unlimited. Default 0. */
  readonly imageMaximumGCAgeMs?: number;
  /** The usage of the image file system, in percent, that triggers garbage collection. Default 85; 100: never. */
  readonly imageGCHighThresholdPercent?: number;
  /** The disk usage, in percent, at which it stops. Default 80. */
  readonly imageGCLowThresholdPercent?: number;
}

/** The record of an image on the node. */
export interface ImageRecord {
  readonly image: Image;
  readonly firstDetectedMs: number;
  /** Undefined: never since it was detected. */
  readonly lastUsedMs: number | undefined;
}

export type ImageRecords = ReadonlyMap<string, ImageRecord>;

export interface ImageFacts {
  readonly images: readonly Image[];
  /** Ids of images used by containers, including dead ones. */
  readonly inUse: ReadonlySet<string>;
  readonly nowMs: number;
}

/** The records after listing the images. Pure. */
export function detectImages(before: ImageRecords, { images, inUse, nowMs }: ImageFacts): ImageRecords {
  return new Map(
    images.map((image) => {
      const old = before.get(image.id);
      const lastUsedMs = inUse.has(image.id) ? nowMs : old?.lastUsedMs;
      return [image.id, { image, firstDetectedMs: old?.firstDetectedMs ?? nowMs, lastUsedMs }];
    }),
  );
}

export interface RemovableImages {
  readonly records: ImageRecords;
  readonly minimumAgeMs: number;
  readonly nowMs: number;
}

/** The removable images, least recently used first. Pure. */
export function removableImages({ records, minimumAgeMs, nowMs }: RemovableImages): readonly ImageRecord[] {
  return [...records.values()]
    .filter(({ image, lastUsedMs, firstDetectedMs }) => !image.pinned && lastUsedMs !== nowMs && nowMs - firstDetectedMs >= minimumAgeMs)
    .toSorted((a, b) => (a.lastUsedMs ?? -Infinity) - (b.lastUsedMs ?? -Infinity) || a.firstDetectedMs - b.firstDetectedMs);
}

/** The first images that together free so many bytes. Pure. */
export function imagesToFree(removable: readonly ImageRecord[], bytes: number): readonly ImageRecord[] {
  let freed = 0;
  const chosen: ImageRecord[] = [];
  for (const record of removable) {
    if (freed >= bytes) break;
    chosen.push(record);
    freed += record.image.sizeBytes;
  }
  return chosen;
}

/** Images unused for longer than the maximum age. Pure. */
export function expiredImages(removable: readonly ImageRecord[], maximumAgeMs: number, nowMs: number): readonly ImageRecord[] {
  if (maximumAgeMs === 0) return [];
  return removable.filter(({ lastUsedMs, firstDetectedMs }) => nowMs - (lastUsedMs ?? firstDetectedMs) > maximumAgeMs);
}

/** The bytes to free; 0 below the threshold. Pure. */
export function bytesToFree(
  disk: { readonly capacity: number; readonly available: number },
  { imageGCHighThresholdPercent = 85, imageGCLowThresholdPercent = 80 }: ImageGcConfig,
): number {
  const usedPercent = 100 - Math.floor((disk.available * 100) / disk.capacity);
  if (imageGCHighThresholdPercent === 100 || usedPercent < imageGCHighThresholdPercent) return 0;
  return Math.max(0, Math.floor((disk.capacity * (100 - imageGCLowThresholdPercent)) / 100) - disk.available);
}
