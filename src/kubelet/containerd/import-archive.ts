import { posix } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type GrpcClient, grpcStatus, hasGrpcStatus } from '#base';
import { isStringArray } from '#machinery';
import { fullImageName } from '../images/parse-image-name.ts';
import { type Blob, ContentStore, type Descriptor } from './content-store.ts';
import type { Architecture } from './pause-program.ts';
import { readTar, TarError } from './tar-reader.ts';

export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

export interface ImportOptions {
  /** The node's architecture: images of others are skipped. */
  readonly architecture: Architecture;
  readonly now: number;
  readonly signal?: AbortSignal;
  /** Names for an image without one in the archive. */
  readonly names?: readonly string[];
}

/** The limit for manifests, indexes and configurations, which are read into memory. */
const MAX_JSON_BYTES = 4 << 20;
const MAX_ENTRIES = 100_000;
const MAX_INDEX_DEPTH = 8;
const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const INDEX_TYPES = ['application/vnd.oci.image.index.v1+json', 'application/vnd.docker.distribution.manifest.list.v2+json'];
const MANIFEST_TYPES = ['application/vnd.oci.image.manifest.v1+json', DOCKER_MANIFEST];

/**
 * Imports the images of an archive (`docker save` or OCI layout, plain or gzip) into containerd. Layers are streamed.
 * Resolves with the names of the images; throws an ArchiveError if it is not such an archive.
 */
export async function importArchive(
  client: GrpcClient,
  archive: AsyncIterable<Buffer>,
  options: ImportOptions,
): Promise<readonly string[]> {
  await using store = await ContentStore.open(client, options);
  const archived = await readArchive(await uncompressed(archive), store).catch((error: unknown) => {
    throw error instanceof TarError ? new ArchiveError(`not an archive of images: ${error.message}`, { cause: error }) : error;
  });
  const importer = new Importer(store, archived, options);
  const named = await importer.images();
  if (named.length === 0) throw new ArchiveError('the archive holds no image');
  for (const { name, target } of named) await store.name(name, target);
  return named.map(({ name }) => name);
}

async function uncompressed(archive: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const iterator = archive[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) throw new ArchiveError('not an archive of images: it is empty');
  const replayed = (async function* () {
    yield first.value;
    for (;;) {
      const { value, done } = await iterator.next();
      if (done) return;
      yield value;
    }
  })();
  if (first.value[0] === 0x28 && first.value[1] === 0xb5)
    throw new ArchiveError('archives compressed with zstd are not supported: use gzip, or none');
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return replayed;
  // Errors of either stream reach the reader.
  return gunzipped(pipeline(Readable.from(replayed), createGunzip(), () => {}));
}

async function* gunzipped(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') !== true) throw error;
    throw new ArchiveError(`the compressed archive is damaged: ${(error as Error).message}`, { cause: error });
  }
}

interface ArchiveContents {
  /** By path in the archive. */
  readonly blobs: ReadonlyMap<string, Blob>;
  /** Small top-level files, by name. */
  readonly texts: ReadonlyMap<string, string>;
}

const TOP_LEVEL = new Set(['oci-layout', 'index.json', 'manifest.json']);

async function readArchive(bytes: AsyncIterable<Buffer>, store: ContentStore): Promise<ArchiveContents> {
  const blobs = new Map<string, Blob>();
  const texts = new Map<string, string>();
  const links = new Map<string, string>();
  let count = 0;
  for await (const { name, type, size, linkName, content } of readTar(bytes)) {
    if (++count > MAX_ENTRIES) throw new ArchiveError(`the archive has more than ${MAX_ENTRIES} files`);
    const path = posix.normalize(name).replace(/^\.?\//, '');
    if (type === 'symlink') links.set(path, posix.join(posix.dirname(path), linkName));
    if (type !== 'file') continue;
    if (TOP_LEVEL.has(path)) texts.set(path, await readText(path, content));
    else blobs.set(path, await writeBlob(path, content, { size, store }));
  }
  // In older archives, layers shared by several images are links.
  for (const [path, target] of links) {
    const blob = blobs.get(target);
    if (blob !== undefined) blobs.set(path, blob);
  }
  return { blobs, texts };
}

async function readText(path: string, content: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of content) {
    size += part.length;
    if (size > MAX_JSON_BYTES) throw new ArchiveError(`${path} in the archive is larger than ${MAX_JSON_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function writeBlob(
  path: string,
  content: AsyncIterable<Buffer>,
  { size, store }: { readonly size: number; readonly store: ContentStore },
): Promise<Blob> {
  try {
    return await store.write(content, { size, ...digestOf(path) });
  } catch (error) {
    if (!hasGrpcStatus(error, grpcStatus.failedPrecondition)) throw error;
    throw new ArchiveError(`${path} in the archive is damaged: its content is not what its name says`, { cause: error });
  }
}

function digestOf(path: string): { digest?: string } {
  const digits = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(path)?.[1];
  return digits === undefined ? {} : { digest: `sha256:${digits}` };
}

interface NamedImage {
  readonly name: string;
  readonly target: Descriptor;
}

interface OciDescriptor extends Descriptor {
  readonly platform?: { readonly os?: string; readonly architecture?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

interface DockerManifest {
  readonly Config: string;
  readonly RepoTags?: readonly string[] | null;
  readonly Layers: readonly string[];
}

class Importer {
  readonly #store: ContentStore;
  readonly #archived: ArchiveContents;
  readonly #options: ImportOptions;
  /** By digest: an index may name one child many times, and so may that one. */
  readonly #finished = new Map<string, Promise<boolean>>();

  constructor(store: ContentStore, archived: ArchiveContents, options: ImportOptions) {
    this.#store = store;
    this.#archived = archived;
    this.#options = options;
  }

  async images(): Promise<readonly NamedImage[]> {
    const { texts } = this.#archived;
    const docker = texts.get('manifest.json');
    const index = texts.get('index.json');
    if (index !== undefined && texts.has('oci-layout')) return this.#ociImages(index, docker);
    if (docker !== undefined) return this.#dockerImages(docker);
    throw new ArchiveError('not an archive of images: it has neither manifest.json (docker save) nor index.json with oci-layout (OCI)');
  }

  async #dockerImages(text: string): Promise<readonly NamedImage[]> {
    const named: NamedImage[] = [];
    for (const manifest of parseDockerManifests(text)) {
      const target = await this.#dockerTarget(manifest);
      for (const name of this.#names(manifest.RepoTags ?? [])) named.push({ name, target });
    }
    return named;
  }

  /** `docker save` archives have no registry manifest: one is generated. */
  async #dockerTarget({ Config, Layers }: DockerManifest): Promise<Descriptor> {
    const config = { mediaType: 'application/vnd.docker.container.image.v1+json', ...this.#blob(Config) };
    const layers: Descriptor[] = [];
    for (const path of Layers) layers.push(await this.#dockerLayer(path));
    const json = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: DOCKER_MANIFEST, config, layers }));
    const blob = await this.#store.write([json], { size: json.length });
    await this.#finishManifest({ ...blob, mediaType: DOCKER_MANIFEST }, { config, layers });
    return { mediaType: DOCKER_MANIFEST, ...blob };
  }

  async #dockerLayer(path: string): Promise<Descriptor> {
    const blob = this.#blob(path);
    const start = await this.#store.readStart(blob, 2);
    const isGzip = start[0] === 0x1f && start[1] === 0x8b;
    return { mediaType: `application/vnd.docker.image.rootfs.diff.tar${isGzip ? '.gzip' : ''}`, ...blob };
  }

  #blob(path: string): Blob {
    const blob = this.#archived.blobs.get(posix.normalize(path));
    if (blob === undefined) throw new ArchiveError(`the archive lacks ${path}, which its manifest.json names`);
    return blob;
  }

  async #ociImages(text: string, docker: string | undefined): Promise<readonly NamedImage[]> {
    const { manifests } = parseJson<{ readonly manifests?: readonly OciDescriptor[] }>('index.json', text);
    if (!Array.isArray(manifests)) throw new ArchiveError('index.json in the archive lists no manifests');
    const named: NamedImage[] = [];
    const others: string[] = [];
    for (const descriptor of manifests as readonly OciDescriptor[]) {
      checkDescriptor('index.json', descriptor);
      const target = { mediaType: descriptor.mediaType, digest: descriptor.digest, size: descriptor.size };
      if (isOfOther(descriptor, this.#options.architecture)) others.push(platformOf(descriptor));
      else if (await this.#finish(target)) {
        for (const name of this.#names(namesOf(descriptor))) named.push({ name, target });
      } else others.push(platformOf(descriptor));
    }
    if (named.length === 0 && others.length > 0) {
      throw new ArchiveError(
        `the archive holds no image for linux/${this.#options.architecture}, only for ${[...new Set(others)].join(', ')}`,
      );
    }
    // Docker writes both manifests; when several images are saved, only its own has their names.
    return docker === undefined ? named : [...named, ...(await this.#dockerNames(docker, named))];
  }

  async #dockerNames(docker: string, named: readonly NamedImage[]): Promise<readonly NamedImage[]> {
    const names = new Set(named.map(({ name }) => name));
    const missing = parseDockerManifests(docker).flatMap((manifest) =>
      (manifest.RepoTags ?? [])
        .map((tag) => this.#name(tag))
        .filter((name) => !names.has(name))
        .map((name) => ({ name, manifest })),
    );
    const images: NamedImage[] = [];
    for (const { name, manifest } of missing) images.push({ name, target: await this.#dockerTarget(manifest) });
    return images;
  }

  #names(tags: readonly string[]): readonly string[] {
    const names = tags.length > 0 ? tags : (this.#options.names ?? []);
    if (names.length === 0) throw new ArchiveError('the archive gives an image no name: say one with --image-name');
    return [...new Set(names.map((name) => this.#name(name)))];
  }

  #name(name: string): string {
    try {
      return fullImageName(name);
    } catch (error) {
      throw new ArchiveError((error as Error).message, { cause: error });
    }
  }

  /** Adds references from a manifest or an index to its children. False: it is for another platform, and its content is absent. */
  #finish(descriptor: Descriptor, depth = 0): Promise<boolean> {
    if (depth > MAX_INDEX_DEPTH) throw new ArchiveError(`indexes in the archive are nested more than ${MAX_INDEX_DEPTH} levels deep`);
    const finished = this.#finished.get(descriptor.digest) ?? this.#finishOnce(descriptor, depth);
    this.#finished.set(descriptor.digest, finished);
    return finished;
  }

  async #finishOnce(descriptor: Descriptor, depth: number): Promise<boolean> {
    if (!(await this.#store.has(descriptor.digest))) return false;
    const text = (await this.#store.read(descriptor, MAX_JSON_BYTES)).toString('utf8');
    if (INDEX_TYPES.includes(descriptor.mediaType)) return this.#finishIndex(descriptor, text, depth);
    if (!MANIFEST_TYPES.includes(descriptor.mediaType)) throw new ArchiveError(`images of type ${descriptor.mediaType} are not supported`);
    const manifest = parseJson<Manifest>(descriptor.digest, text);
    checkDescriptor(descriptor.digest, manifest.config);
    if (!Array.isArray(manifest.layers)) throw new ArchiveError(`${descriptor.digest} in the archive is not the manifest of an image`);
    for (const layer of manifest.layers) checkDescriptor(descriptor.digest, layer);
    await this.#finishManifest(descriptor, manifest);
    return true;
  }

  async #finishIndex(descriptor: Descriptor, text: string, depth: number): Promise<boolean> {
    const { manifests } = parseJson<{ readonly manifests?: readonly OciDescriptor[] }>(descriptor.digest, text);
    if (!Array.isArray(manifests)) throw new ArchiveError(`${descriptor.digest} in the archive lists no manifests`);
    const children = new Map<string, string>();
    let isPresent = false;
    for (const [position, child] of (manifests as readonly OciDescriptor[]).entries()) {
      checkDescriptor(descriptor.digest, child);
      // Indexes cannot form cycles, since children are named by digest.
      if (isOfOther(child, this.#options.architecture) || !(await this.#finish(child, depth + 1))) continue;
      isPresent = true;
      children.set(`m.${position}`, child.digest);
    }
    if (isPresent) await this.#store.refer(descriptor.digest, children);
    return isPresent;
  }

  async #finishManifest({ digest }: Descriptor, { config, layers }: Manifest): Promise<void> {
    for (const part of [config, ...layers]) {
      if (!(await this.#store.has(part.digest)))
        throw new ArchiveError(`the archive lacks ${part.digest}, which belongs to an image in it`);
    }
    await this.#checkConfig(config, layers);
    await this.#store.refer(digest, new Map([['config', config.digest], ...layers.map((layer, i) => [`l.${i}`, layer.digest] as const)]));
  }

  async #checkConfig(config: Descriptor, layers: readonly Descriptor[]): Promise<void> {
    const text = (await this.#store.read(config, MAX_JSON_BYTES)).toString('utf8');
    const { architecture, os, rootfs } = parseJson<{
      readonly architecture?: string;
      readonly os?: string;
      readonly rootfs?: { readonly diff_ids?: readonly string[] };
    }>(config.digest, text);
    if (rootfs?.diff_ids?.length !== layers.length)
      throw new ArchiveError(`the configuration of an image, ${config.digest}, does not fit its layers`);
    for (const [i, { mediaType, digest }] of layers.entries()) {
      // The id of a layer is the digest of its uncompressed content.
      if (mediaType.endsWith('.tar') && rootfs.diff_ids[i] !== digest)
        throw new ArchiveError(`a layer in the archive is damaged: its content is ${digest}, not ${rootfs.diff_ids[i]}`);
    }
    const isRight = (os ?? 'linux') === 'linux' && (architecture ?? this.#options.architecture) === this.#options.architecture;
    if (!isRight)
      throw new ArchiveError(`the archive holds an image for ${os}/${architecture}; this node is linux/${this.#options.architecture}`);
  }
}

function parseDockerManifests(text: string): readonly DockerManifest[] {
  const manifests = parseJson<readonly DockerManifest[]>('manifest.json', text);
  const isValid =
    Array.isArray(manifests) &&
    manifests.every(
      (manifest: Partial<DockerManifest> | null) =>
        typeof manifest?.Config === 'string' &&
        isStringArray(manifest.Layers) &&
        (manifest.RepoTags === undefined || manifest.RepoTags === null || isStringArray(manifest.RepoTags)),
    );
  if (!isValid) throw new ArchiveError('manifest.json in the archive is not what docker save writes');
  return manifests;
}

function checkDescriptor(where: string, descriptor: Partial<OciDescriptor> | undefined | null): void {
  const isValid =
    typeof descriptor?.mediaType === 'string' &&
    typeof descriptor.digest === 'string' &&
    /^sha256:[0-9a-f]{64}$/.test(descriptor.digest) &&
    Number.isSafeInteger(descriptor.size) &&
    // JSON's null would be neither absent nor an object.
    descriptor.platform !== null &&
    descriptor.annotations !== null;
  if (!isValid) throw new ArchiveError(`${where} in the archive refers to something that is no content with a SHA-256 digest`);
}

/** containerd's annotation has the full name; OCI's may be only a tag, which is not a name. */
function namesOf({ annotations = {} }: OciDescriptor): readonly string[] {
  const fullName = annotations['io.containerd.image.name'];
  const ref = annotations['org.opencontainers.image.ref.name'];
  if (fullName !== undefined) return [fullName];
  return ref !== undefined && /[/:]/.test(ref) ? [ref] : [];
}

function platformOf({ platform }: OciDescriptor): string {
  return platform === undefined ? 'another platform' : `${platform.os}/${platform.architecture}`;
}

function isOfOther({ platform }: OciDescriptor, architecture: string): boolean {
  return platform !== undefined && (platform.os !== 'linux' || platform.architecture !== architecture);
}

function parseJson<T>(where: string, text: string): T {
  try {
    const value = JSON.parse(text) as T;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below, like non-objects.
  }
  throw new ArchiveError(`${where} in the archive is not JSON`);
}
