import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { writeTar } from './tar-writer.ts';

/** An image of the test registry (registry-program.mjs). */
export interface RegistryImage {
  readonly manifest: string;
  readonly mediaType: string;
  readonly blobs: Readonly<Record<string, string>>;
  /** The digest of its last layer. */
  readonly layer: string;
}

const MEDIA_TYPE = 'application/vnd.docker.distribution.manifest.v2+json';

/** An image of layers with these files: their texts by their paths. */
export function registryImage(layers: readonly Readonly<Record<string, string>>[], architecture: string): RegistryImage {
  const archives = layers.map((files) => writeTar(Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) }))));
  const blobs = archives.map((archive) => gzipSync(archive));
  const rootfs = { type: 'layers', diff_ids: archives.map(digest) };
  const config = Buffer.from(JSON.stringify({ architecture, os: 'linux', rootfs }));
  const descriptor = (type: string, bytes: Buffer) => ({
    mediaType: `application/vnd.docker.${type}`,
    digest: digest(bytes),
    size: bytes.length,
  });
  const manifest = JSON.stringify({
    ...{ schemaVersion: 2, mediaType: MEDIA_TYPE },
    config: descriptor('container.image.v1+json', config),
    layers: blobs.map((blob) => descriptor('image.rootfs.diff.tar.gzip', blob)),
  });
  const stored = Object.fromEntries([config, ...blobs].map((blob) => [digest(blob), blob.toString('base64')]));
  return { manifest, mediaType: MEDIA_TYPE, blobs: stored, layer: digest(blobs.at(-1)!) };
}

function digest(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
