import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GrpcClient, realClock, silentLogger } from '#base';
import { GrpcRuntime } from '../cri/grpc/grpc-runtime.ts';
import { images } from './api.ts';
import { type ContainerdSite, makeContainerdSite, whyNoContainers } from './containerd.test-setup.ts';
import { ArchiveError, importArchive } from './import-archive.ts';
import { noStreaming } from './no-streaming.ts';
import type { PrivateContainerd } from './private-containerd.ts';
import { type TarFile, writeTar } from './tar-writer.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of image archives are skipped: ${reason}`);

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const layer = writeTar([{ name: 'hello', content: Buffer.from('world') }]);

function configOf(arch: string, diffIds: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify({ architecture: arch, os: 'linux', rootfs: { type: 'layers', diff_ids: diffIds } }));
}

function dockerArchive(manifest: unknown, files: readonly TarFile[]): Buffer {
  return writeTar([...files, { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) }]);
}

interface Blob {
  readonly descriptor: Record<string, unknown>;
  readonly file: TarFile;
}

function blob(mediaType: string, content: Buffer, overrides: Record<string, unknown> = {}): Blob {
  const hex = digest(content);
  return {
    descriptor: { mediaType, digest: `sha256:${hex}`, size: content.length, ...overrides },
    file: { name: `blobs/sha256/${hex}`, content },
  };
}

function ociManifest(arch: string, overrides: Record<string, unknown> = {}): { manifest: Blob; blobs: readonly Blob[] } {
  const config = blob('application/vnd.oci.image.config.v1+json', configOf(arch, [`sha256:${digest(layer)}`]));
  const data = blob('application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(layer));
  const json = { schemaVersion: 2, config: config.descriptor, layers: [data.descriptor] };
  const manifest = blob('application/vnd.oci.image.manifest.v1+json', Buffer.from(JSON.stringify(json)), overrides);
  return { manifest, blobs: [manifest, config, data] };
}

function ociArchive(manifests: readonly Blob[], blobs: readonly Blob[]): Buffer {
  return writeTar([
    { name: 'oci-layout', content: Buffer.from('{"imageLayoutVersion":"1.0.0"}') },
    {
      name: 'index.json',
      content: Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: manifests.map(({ descriptor }) => descriptor) })),
    },
    ...blobs.map(({ file }) => file),
  ]);
}

describe.skipIf(reason !== undefined)('importing an archive', { timeout: 60_000 }, () => {
  let site: ContainerdSite;
  let containerd: PrivateContainerd;
  let runtime: GrpcRuntime;
  let client: GrpcClient;
  let arch: string;
  let other: string;

  beforeAll(async () => {
    site = await makeContainerdSite();
    arch = site.config.architecture;
    other = arch === 'amd64' ? 'arm64' : 'amd64';
    containerd = site.start();
    await containerd.ready;
    runtime = new GrpcRuntime({ endpoint: containerd.endpoint }, { clock: realClock, logger: silentLogger, streaming: noStreaming });
    client = new GrpcClient({ endpoint: containerd.endpoint, clock: realClock });
  }, 60_000);

  afterAll(async () => {
    client?.close();
    runtime?.[Symbol.dispose]();
    await containerd?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
  }, 60_000);

  function load(bytes: Buffer, names?: readonly string[]): Promise<readonly string[]> {
    const chunks = (async function* () {
      for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700);
    })();
    return importArchive(client, chunks, { architecture: site.config.architecture, now: realClock.now(), ...(names && { names }) });
  }

  async function tagsOf(image: string): Promise<readonly string[] | undefined> {
    return (await runtime.imageStatus({ image }))?.repoTags;
  }

  test('takes several images with several names from one archive, and layers that are links', async () => {
    const [firstLayer, secondLayer] = [Buffer.from('first'), layer];
    const files = [
      { name: 'a.json', content: configOf(arch, [`sha256:${digest(secondLayer)}`]) },
      { name: 'b.json', content: configOf(arch, [`sha256:${digest(secondLayer)}`, `sha256:${digest(firstLayer)}`]) },
      { name: 'a/layer.tar', content: secondLayer },
      { name: 'b/layer.tar', content: firstLayer },
    ];
    const archive = writeTar([
      ...files,
      { name: 'c/layer.tar', linkName: '../a/layer.tar' },
      {
        name: 'manifest.json',
        content: Buffer.from(
          JSON.stringify([
            { Config: 'a.json', RepoTags: ['first:1', 'example.com/first:2'], Layers: ['a/layer.tar'] },
            { Config: 'b.json', RepoTags: ['second'], Layers: ['c/layer.tar', 'b/layer.tar'] },
          ]),
        ),
      },
    ]);
    expect(await load(archive)).toEqual(['docker.io/library/first:1', 'example.com/first:2', 'docker.io/library/second:latest']);
    await expect.poll(() => tagsOf('second')).toEqual(['docker.io/library/second:latest']);
    await expect.poll(async () => (await tagsOf('first:1'))?.toSorted()).toEqual(['docker.io/library/first:1', 'example.com/first:2']);
  });

  test('names an image by its id too, as containerd does with those that it pulls', async () => {
    const config = configOf(arch, [`sha256:${digest(layer)}`]);
    const files = [
      { name: 'c.json', content: config },
      { name: 'l.tar', content: layer },
    ];
    await load(dockerArchive([{ Config: 'c.json', RepoTags: ['identified:1'], Layers: ['l.tar'] }], files));
    const call = { timeoutMs: 10_000, metadata: { 'containerd-namespace': 'k8s.io' } };
    const id = `sha256:${digest(config)}`;
    await expect.poll(() => client.unary(images.get, { name: id }, call), { timeout: 20_000 }).toMatchObject({ image: { name: id } });
  });

  test('takes an OCI layout with gzip, twice the same', async () => {
    const { manifest, blobs } = ociManifest(arch, { annotations: { 'io.containerd.image.name': 'example.com/oci:1' } });
    const archive = gzipSync(ociArchive([manifest], blobs));
    expect(await load(archive)).toEqual(['example.com/oci:1']);
    await expect.poll(() => tagsOf('example.com/oci:1')).toContain('example.com/oci:1');
    expect(await load(archive)).toEqual(['example.com/oci:1']);
  });

  test('takes of an image for several platforms what is there for this one', async () => {
    const ownManifest = ociManifest(arch, { platform: { os: 'linux', architecture: arch } });
    const foreignManifest = ociManifest(other, { platform: { os: 'linux', architecture: other } });
    const json = { schemaVersion: 2, manifests: [foreignManifest.manifest.descriptor, ownManifest.manifest.descriptor] };
    const index = blob('application/vnd.oci.image.index.v1+json', Buffer.from(JSON.stringify(json)), {
      annotations: { 'org.opencontainers.image.ref.name': 'example.com/many:1' },
    });
    expect(await load(ociArchive([index], [index, ...ownManifest.blobs]))).toEqual(['example.com/many:1']);
    await expect.poll(() => tagsOf('example.com/many:1')).toContain('example.com/many:1');
  });

  const INDEX = 'application/vnd.oci.image.index.v1+json';
  const indexOf = (children: readonly Blob[], overrides: Record<string, unknown> = {}) =>
    blob(INDEX, Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: children.map(({ descriptor }) => descriptor) })), overrides);

  test('takes an index whose children multiply: each of them is read once', async () => {
    const { manifest, blobs } = ociManifest(arch);
    const indexes = [indexOf(Array.from({ length: 1000 }, () => manifest))];
    while (indexes.length < 4) indexes.push(indexOf(Array.from({ length: 1000 }, () => indexes.at(-1)!)));
    const top = indexOf([indexes.at(-1)!], { annotations: { 'io.containerd.image.name': 'example.com/multiplied:1' } });
    expect(await load(ociArchive([top], [top, ...indexes, ...blobs]))).toEqual(['example.com/multiplied:1']);
  });

  test('rejects indexes that are nested too deep', async () => {
    const indexes = [indexOf([ociManifest(arch).manifest])];
    while (indexes.length < 12) indexes.push(indexOf([indexes.at(-1)!]));
    const top = indexOf([indexes.at(-1)!], { annotations: { 'io.containerd.image.name': 'example.com/deep:1' } });
    await expect(load(ociArchive([top], [top, ...indexes, ...ociManifest(arch).blobs]))).rejects.toThrow('nested more than 8 levels deep');
  });

  test('moves a name from one image to another', async () => {
    const named = (text: string) => {
      const data = writeTar([{ name: text, content: Buffer.from(text) }]);
      const config = configOf(arch, [`sha256:${digest(data)}`]);
      return dockerArchive(
        [{ Config: 'c.json', RepoTags: ['moving:1'], Layers: ['l.tar'] }],
        [
          { name: 'c.json', content: config },
          { name: 'l.tar', content: data },
        ],
      );
    };
    await load(named('old'));
    await expect.poll(async () => (await runtime.imageStatus({ image: 'moving:1' }))?.id).toBeDefined();
    const before = (await runtime.imageStatus({ image: 'moving:1' }))?.id;
    await load(named('new'));
    await expect.poll(async () => (await runtime.imageStatus({ image: 'moving:1' }))?.id).not.toBe(before);
  });

  test('uses the names that it was given where the archive has none', async () => {
    const { manifest, blobs } = ociManifest(arch, { annotations: { 'org.opencontainers.image.ref.name': 'latest' } });
    await expect(load(ociArchive([manifest], blobs))).rejects.toThrow('the archive gives an image no name: say one with --image-name');
    expect(await load(ociArchive([manifest], blobs), ['given:1'])).toEqual(['docker.io/library/given:1']);
  });

  const good = () => [
    { name: 'c.json', content: configOf(arch, [`sha256:${digest(layer)}`]) },
    { name: 'l.tar', content: layer },
  ];

  test.each<[string, () => Buffer, string]>([
    ['nothing', () => Buffer.alloc(0), 'it is empty'],
    ['text', () => Buffer.from('hello '.repeat(1000)), 'not an archive of images: not a tar archive'],
    ['zstd', () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), 'archives compressed with zstd are not supported'],
    ['damaged gzip', () => gzipSync(dockerArchive([], good())).subarray(0, 100), 'the compressed archive is damaged'],
    ['another tar archive', () => writeTar(good()), 'it has neither manifest.json (docker save) nor index.json'],
    ['no image', () => dockerArchive([], good()), 'the archive holds no image'],
    [
      'a manifest that is no JSON',
      () => writeTar([{ name: 'manifest.json', content: Buffer.from('{') }]),
      'manifest.json in the archive is not JSON',
    ],
    [
      'a manifest of another kind',
      () => dockerArchive([{ Layers: 5 }], good()),
      'manifest.json in the archive is not what docker save writes',
    ],
    ['a missing layer', () => dockerArchive([{ Config: 'c.json', RepoTags: ['a'], Layers: ['x'] }], good()), 'the archive lacks x'],
    [
      'a bad name',
      () => dockerArchive([{ Config: 'c.json', RepoTags: ['A b'], Layers: ['l.tar'] }], good()),
      '"A b" is not the name of an image',
    ],
    ['too few layers', () => dockerArchive([{ Config: 'c.json', RepoTags: ['a'], Layers: [] }], good()), 'does not fit its layers'],
    [
      'a layer that is not what its configuration says',
      () =>
        dockerArchive([{ Config: 'c.json', RepoTags: ['a'], Layers: ['l.tar'] }], [good()[0]!, { name: 'l.tar', content: writeTar([]) }]),
      'a layer in the archive is damaged',
    ],
    [
      'another processor',
      () =>
        dockerArchive(
          [{ Config: 'c.json', RepoTags: ['a'], Layers: ['l.tar'] }],
          [{ name: 'c.json', content: configOf(other, [`sha256:${digest(layer)}`]) }, good()[1]!],
        ),
      `the archive holds an image for linux/${process.arch === 'x64' ? 'arm64' : 'amd64'}`,
    ],
    [
      'other processors only',
      () => {
        const { manifest, blobs } = ociManifest(other, { platform: { os: 'linux', architecture: other } });
        return ociArchive([manifest], blobs);
      },
      'the archive holds no image for linux/',
    ],
    [
      'a blob that is not what its name says',
      () => {
        const data = blob('application/vnd.oci.image.layer.v1.tar', Buffer.from('never stored'));
        return ociArchive([], [{ ...data, file: { ...data.file, content: Buffer.from('stored never') } }]);
      },
      'is damaged: its content is not what its name says',
    ],
  ])('rejects %s', async (_, bytes, text) => {
    const outcome = await load(bytes()).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(Error);
    expect((outcome as Error).message).toContain(text);
    expect(outcome).toBeInstanceOf(ArchiveError);
  });
});
