import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rmdir } from 'node:fs/promises';
import { type Clock, GrpcClient, grpcStatus, hasGrpcStatus, type MessageOf } from '#base';
import { snapshotterOf } from '../cri/grpc/containerd-config.ts';
import { runtimeService } from '../cri/grpc/methods.ts';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { Mounter } from '../volumes/mount/mounter.ts';
import { applyDiff, content, images, leases, snapshots } from './api.ts';
import { CRI_NAMESPACE } from './content-store.ts';

/** Mounts images as volumes, for runtimes that do not. */
export interface ImageMounts extends Disposable {
  /** Mounts the content of an existing image at the directory, read-only. Idempotent. */
  mount(reference: string, directory: string): Promise<void>;
  /** Undoes it, and removes the directory. Succeeds when it is undone already. */
  unmount(directory: string): Promise<void>;
}

export interface ImageMountsDeps {
  readonly runtime: ContainerRuntime;
  readonly mounter: Mounter;
  readonly clock: Clock;
}

const CALL_MS = 60_000;
const LEASE_MS = 3_600_000;
const MAX_MANIFEST_BYTES = 8 << 20;

/** Undefined: the runtime mounts images itself, or does not provide their layers. */
export async function openImageMounts(deps: ImageMountsDeps): Promise<ImageMounts | undefined> {
  const { endpoint } = deps.runtime;
  const { runtimeName, runtimeVersion } = await deps.runtime.version();
  if (endpoint === undefined || runtimeName !== 'containerd' || supportsImageMounts(runtimeVersion)) return undefined;
  return new ContainerdImageMounts(endpoint, deps);
}

/** containerd does since 2.1. */
export function supportsImageMounts(version: string): boolean {
  const [, major = 0, minor = 0] = (/^v?(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  return major > 2 || (major === 2 && minor >= 1);
}

interface BlobReference {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface ImageLayers {
  readonly layers: readonly BlobReference[];
  /** Of each layer, unpacked. */
  readonly diffIds: readonly string[];
}

interface LayerSnapshot {
  readonly snapshotter: string;
  readonly parent: string;
  readonly name: string;
}

interface ImageNames {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
}

/** Views of images' layers, from containerd's snapshotters. */
class ContainerdImageMounts implements ImageMounts {
  readonly #client: GrpcClient;
  readonly #deps: ImageMountsDeps;
  #snapshotter: string | undefined;

  constructor(endpoint: string, deps: ImageMountsDeps) {
    this.#client = new GrpcClient({ endpoint, clock: deps.clock });
    this.#deps = deps;
  }

  async mount(reference: string, directory: string): Promise<void> {
    const { runtime, mounter } = this.#deps;
    await mkdir(directory, { recursive: true, mode: 0o750 });
    if (await mounter.isMountPoint(directory)) return;
    const image = await runtime.imageStatus({ image: reference });
    if (image === undefined) throw new Error(`image "${reference}" is not there any more`);
    const { mounts } = await this.#withLease(async (call) => this.#view(await this.#unpacked(image, call), directory));
    for (const { type, source, options } of mounts) {
      const own = options.filter((option) => option !== 'rbind' && option !== 'bind');
      if (type === 'bind') await mounter.mount({ source, target: directory, options: [...new Set([...own, 'ro'])] });
      else await mounter.mount({ source, target: directory, fsType: type, options: [...own, 'ro'] });
    }
  }

  async unmount(directory: string): Promise<void> {
    const { mounter } = this.#deps;
    await mounter.unmount(directory);
    await this.#client
      .unary(snapshots.remove, { snapshotter: await this.#snapshotterName(), key: keyOf(directory) }, CALL)
      .catch(unless(grpcStatus.notFound));
    await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  async #snapshotterName(): Promise<string> {
    this.#snapshotter ??= snapshotterOf((await this.#client.unary(runtimeService.status, { verbose: true }, CALL)).info.config);
    return this.#snapshotter;
  }

  /** In CRI an image's id is that of its configuration; an index may list it beside images of other platforms. */
  async #layersOf({ id: imageId, repoTags, repoDigests }: ImageNames): Promise<ImageLayers> {
    const manifest = await this.#manifestOf(await this.#targetOf([imageId, ...repoTags, ...repoDigests]), imageId);
    if (manifest === undefined) throw new Error(`containerd has no manifest of image ${imageId}`);
    const { rootfs } = await this.#json<{ readonly rootfs: { readonly diff_ids: readonly string[] } }>(imageId);
    if (rootfs.diff_ids.length !== manifest.layers.length)
      throw new Error(`the layers of image ${imageId} are not those of its configuration`);
    return { layers: manifest.layers, diffIds: rootfs.diff_ids };
  }

  /** Images that were loaded have no record by their id. */
  async #targetOf(names: readonly string[]): Promise<string> {
    for (const name of names) {
      const image = await this.#client.unary(images.get, { name }, CALL).catch(unless(grpcStatus.notFound));
      if (image !== undefined) return image.image.target.digest;
    }
    throw new Error(`containerd has no image ${names.join(' or ')}`);
  }

  async #manifestOf(digest: string, imageId: string): Promise<{ readonly layers: readonly BlobReference[] } | undefined> {
    const {
      config,
      layers,
      manifests = [],
    } = await this.#json<{
      readonly config?: BlobReference;
      readonly layers?: readonly BlobReference[];
      readonly manifests?: readonly BlobReference[];
    }>(digest);
    if (config?.digest === imageId && layers !== undefined) return { layers };
    for (const child of manifests) {
      // Only the manifests of this machine's platform need be there.
      const manifest = await this.#manifestOf(child.digest, imageId).catch(unless(grpcStatus.notFound));
      if (manifest !== undefined) return manifest;
    }
    return undefined;
  }

  async #json<T>(digest: string): Promise<T> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const { data } of this.#client.serverStream(content.read, { digest }, CALL)) {
      size += data.length;
      if (size > MAX_MANIFEST_BYTES) throw new Error(`${digest} has more than ${MAX_MANIFEST_BYTES} bytes`);
      parts.push(data);
    }
    return JSON.parse(Buffer.concat(parts).toString()) as T;
  }

  /** Keeps what calls make from being collected as garbage until it is referred to. */
  async #withLease<T>(work: (call: typeof CALL) => Promise<T>): Promise<T> {
    const id = `sampan-image-volume-${randomUUID()}`;
    const expires = new Date(this.#deps.clock.now() + LEASE_MS).toISOString();
    await this.#client.unary(leases.create, { id, labels: { 'containerd.io/gc.expire': expires } }, CALL);
    try {
      return await work({ ...CALL, metadata: { ...CALL.metadata, 'containerd-lease': id } });
    } finally {
      await this.#client.unary(leases.delete, { id }, CALL);
    }
  }

  /** Unpacks the layers that no container needed yet, and resolves to the name of the last. They stay as long as the image. */
  async #unpacked(image: ImageNames, call: typeof CALL): Promise<string> {
    const snapshotter = await this.#snapshotterName();
    const { layers, diffIds } = await this.#layersOf(image);
    let parent = '';
    for (const [index, diffId] of diffIds.entries()) {
      const name = parent === '' ? diffId : chainId(parent, diffId);
      const isThere = await this.#client.unary(snapshots.stat, { snapshotter, key: name }, CALL).catch(unless(grpcStatus.notFound));
      if (isThere === undefined) await this.#unpack(layers[index]!, { snapshotter, parent, name }, call);
      parent = name;
    }
    const label = `containerd.io/gc.ref.snapshot.${snapshotter}`;
    const info = { digest: image.id, labels: { [label]: parent } };
    await this.#client.unary(content.update, { info, updateMask: { paths: [`labels.${label}`] } }, CALL);
    return parent;
  }

  async #unpack(layer: BlobReference, { snapshotter, parent, name }: LayerSnapshot, call: typeof CALL): Promise<void> {
    const key = `sampan-unpack-${randomUUID()}`;
    const { mounts } = await this.#client.unary(snapshots.prepare, { snapshotter, key, parent }, call);
    try {
      await this.#client.unary(applyDiff, { diff: layer, mounts }, call);
      await this.#client.unary(snapshots.commit, { snapshotter, name, key }, call).catch(unless(grpcStatus.alreadyExists));
    } finally {
      await this.#client.unary(snapshots.remove, { snapshotter, key }, CALL).catch(unless(grpcStatus.notFound));
    }
  }

  async #view(parent: string, directory: string): Promise<MessageOf<typeof snapshots.view.response>> {
    const snapshotter = await this.#snapshotterName();
    const key = keyOf(directory);
    const existing = await this.#client.unary(snapshots.mounts, { snapshotter, key }, CALL).catch(unless(grpcStatus.notFound));
    if (existing !== undefined) return existing;
    return this.#client.unary(snapshots.view, { snapshotter, key, parent, labels: gcRootLabels(this.#deps.clock) }, CALL);
  }
}

const CALL: { readonly timeoutMs: number; readonly metadata: Readonly<Record<string, string>> } = {
  timeoutMs: CALL_MS,
  metadata: { 'containerd-namespace': CRI_NAMESPACE },
};

/** Known from the directory alone, also to a later kubelet. */
function keyOf(directory: string): string {
  return `sampan-image-volume-${createHash('sha256').update(directory).digest('hex')}`;
}

/** The name of a layer on top of others, as image tools agree on it. */
function chainId(parent: string, diffId: string): string {
  return `sha256:${createHash('sha256').update(`${parent} ${diffId}`).digest('hex')}`;
}

/** What no container uses is otherwise collected as garbage. */
function gcRootLabels(clock: Clock): Readonly<Record<string, string>> {
  return { 'containerd.io/gc.root': new Date(clock.now()).toISOString() };
}

function unless(status: number) {
  return (error: unknown) => {
    if (!hasGrpcStatus(error, status)) throw error;
    return undefined;
  };
}
