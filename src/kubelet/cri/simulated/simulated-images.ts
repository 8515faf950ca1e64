import type { Image, ImageFsInfo } from '../runtime.ts';

const IMAGE_SIZE_BYTES = 52_428_800;

/** Pulled images, all of the same size. */
export class SimulatedImages {
  readonly #images = new Map<string, Image>();

  /** Returns the image's id. */
  add(image: string): string {
    const id = refOf(image);
    this.#images.set(id, { id, repoTags: [image], repoDigests: [id], sizeBytes: IMAGE_SIZE_BYTES, pinned: false });
    return id;
  }

  /** By name or by id. */
  get(image: string): Image | undefined {
    return this.#images.get(refOf(image)) ?? this.#images.get(image);
  }

  has(id: string): boolean {
    return this.#images.has(id);
  }

  delete(image: string): void {
    this.#images.delete(refOf(image));
  }

  list(): readonly Image[] {
    return [...this.#images.values()];
  }

  usage(timestampMs: number): ImageFsInfo {
    const usage = { timestampMs, mountpoint: '/', usedBytes: this.#images.size * IMAGE_SIZE_BYTES, inodesUsed: 0 };
    return { imageFilesystems: [usage], containerFilesystems: [usage] };
  }
}

/** Deterministic, like a digest. */
function refOf(image: string): string {
  if (image.includes('@sha256:')) return image;
  let hash = 0x811c9dc5;
  let digest = '';
  for (let round = 0; round < 8; round++) {
    for (let i = 0; i < image.length; i++) hash = Math.imul(hash ^ image.charCodeAt(i) ^ round, 0x01000193);
    digest += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return `${image.replace(/:[^/:]*$/, '')}@sha256:${digest}`;
}
