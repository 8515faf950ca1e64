import type { Clock, Logger } from '#base';
import type { EventRecorder } from '#client';
import type { ContainerRuntime, Image } from '../cri/runtime.ts';
import { nodeReference } from '../node/node-reference.ts';
import {
  bytesToFree,
  detectImages,
  expiredImages,
  type ImageGcConfig,
  type ImageRecord,
  type ImageRecords,
  imagesToFree,
  removableImages,
} from './image-garbage.ts';

export interface ImageGcDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly runtime: ContainerRuntime;
  readonly nodeName: string;
  /** Called with the ids of all images on the node. */
  onImages?(ids: ReadonlySet<string>): Promise<void> | undefined;
  /** The image file system; undefined: unknown. */
  imageDisk(): Promise<{ readonly capacity: number; readonly available: number } | undefined>;
}

const MINIMUM_AGE_MS = 120_000;

/** Removes unused images when their file system fills up or they exceed the maximum age. */
export class ImageGc {
  #records: ImageRecords = new Map();

  constructor(
    private readonly config: ImageGcConfig,
    private readonly deps: ImageGcDeps,
  ) {}

  async collect(): Promise<void> {
    const { clock, recorder, nodeName } = this.deps;
    const { imageMaximumGCAgeMs = 0 } = this.config;
    const nowMs = clock.now();
    await this.#detect(nowMs);
    await this.#remove(expiredImages(this.#removable(nowMs), imageMaximumGCAgeMs, nowMs));
    const disk = await this.deps.imageDisk();
    const bytes = disk === undefined ? 0 : bytesToFree(disk, this.config);
    if (bytes === 0) return;
    const freed = await this.#remove(imagesToFree(this.#removable(nowMs), bytes));
    if (freed >= bytes) return;
    const text = `Failed to garbage collect required amount of images. Attempted to free ${bytes} bytes, but only found ${freed} bytes eligible to free.`;
    recorder.warning(nodeReference(nodeName), 'FreeDiskSpaceFailed', text);
  }

  /** Removes all unused images regardless of age, before pods are evicted. */
  async deleteUnused(): Promise<void> {
    const nowMs = this.deps.clock.now();
    await this.#detect(nowMs);
    await this.#remove(removableImages({ records: this.#records, minimumAgeMs: 0, nowMs }));
  }

  #removable(nowMs: number): readonly ImageRecord[] {
    const { imageMinimumGCAgeMs = MINIMUM_AGE_MS } = this.config;
    return removableImages({ records: this.#records, minimumAgeMs: imageMinimumGCAgeMs, nowMs });
  }

  async #detect(nowMs: number): Promise<void> {
    const { runtime } = this.deps;
    const [images, containers] = await Promise.all([runtime.listImages(), runtime.listContainers()]);
    const names = new Set(containers.flatMap(({ image, imageRef, imageId }) => [image.image, imageRef, imageId]));
    const inUse = new Set(images.filter((image) => isNamed(image, names)).map(({ id }) => id));
    this.#records = detectImages(this.#records, { images, inUse, nowMs });
    await this.deps.onImages?.(new Set(images.map(({ id }) => id)));
  }

  /** Resolves with the freed bytes. Images that cannot be removed are retried next time. */
  async #remove(records: readonly ImageRecord[]): Promise<number> {
    const { runtime, logger } = this.deps;
    const left = new Map(this.#records);
    let freed = 0;
    for (const { image } of records) {
      try {
        await runtime.removeImage({ image: image.id });
        left.delete(image.id);
        freed += image.sizeBytes;
        logger.info('an unused image was removed', { image: image.repoTags[0] ?? image.id });
      } catch (error) {
        logger.warn('an image could not be removed', { image: image.id, error });
      }
    }
    this.#records = left;
    return freed;
  }
}

function isNamed({ id, repoTags, repoDigests }: Image, names: ReadonlySet<string>): boolean {
  return names.has(id) || [...repoTags, ...repoDigests].some((name) => names.has(name));
}
