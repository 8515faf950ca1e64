import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { GrpcClient, maxOf, realClock, silentLogger } from '#base';
import { readRunning } from '#cluster';
import { architectureOf, GrpcRuntime, importArchive, noStreaming } from '#kubelet';
import { addLocationOptions, directoryOf, type LocationOptions, locationFlags } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { addOutputOption, type OutputFormat, printData } from '../output-option.ts';
import { UsageError } from '../usage-error.ts';

type LoadOptions = LocationOptions & { imageName?: string[] };
type ListOptions = LocationOptions & { output: OutputFormat };

export function configureImage(command: Command, context: CliContext): void {
  addLocationOptions(command.command('load').summary('Load images from archives').description('Load images from archives.'))
    .argument('<file...>', "archives as 'docker save' writes them or in the OCI layout, also with gzip; - is standard input")
    .option('--image-name <name...>', 'names for an image that its archive gives none')
    .action((files: string[], options: LoadOptions) => load(files, options, context));
  addOutputOption(
    addLocationOptions(command.command('list').summary('List the images of the node').description('List the images of the node.')),
  ).action((options: ListOptions) => list(options, context));
  addLocationOptions(command.command('remove').summary('Remove images from the node').description('Remove images from the node.'))
    .argument('<name...>', 'names or ids of images')
    .action((names: string[], options: LocationOptions) => remove(names, options, context));
}

/** How long to wait until the runtime lists a new image. */
const NOTICE_MS = 30_000;

async function load(files: readonly string[], options: LoadOptions, context: CliContext): Promise<void> {
  const endpoint = await endpointOf(options, context);
  using runtime = openRuntime(endpoint);
  const { runtimeName } = await runtime.version({ signal: context.signal });
  if (runtimeName !== 'containerd')
    throw new Error(`images can be loaded into containerd only; the node runs ${runtimeName}: use its own tools`);
  using client = new GrpcClient({ endpoint, clock: realClock });
  for (const file of files) {
    for (const name of await loadOne(file, client, { options, context })) {
      await noticed(runtime, name, context);
      context.print(`Loaded ${name}`);
    }
  }
}

async function loadOne(
  file: string,
  client: GrpcClient,
  { options, context }: { readonly options: LoadOptions; readonly context: CliContext },
): Promise<readonly string[]> {
  const architecture = architectureOf(process.arch);
  if (architecture === undefined) throw new Error(`images can not be loaded on processors of type ${process.arch}`);
  try {
    const source: AsyncIterable<Buffer> = file === '-' ? process.stdin : await openFile(path.resolve(context.cwd, file));
    const names = options.imageName === undefined ? {} : { names: options.imageName };
    return await importArchive(client, source, { architecture, now: realClock.now(), signal: context.signal, ...names });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') throw new Error(`cannot read ${file} (${code})`);
    throw new Error(`cannot load ${file === '-' ? 'standard input' : file}`, { cause });
  }
}

/** Opened first, so that a missing file is reported. */
async function openFile(file: string): Promise<AsyncIterable<Buffer>> {
  const handle = await open(file);
  return handle.createReadStream({ highWaterMark: 1 << 20 });
}

/** CRI lists new images asynchronously; pods can use them from then on. */
async function noticed(runtime: GrpcRuntime, image: string, { signal }: CliContext): Promise<void> {
  const deadline = realClock.monotonic() + NOTICE_MS;
  while ((await runtime.imageStatus({ image }, { signal })) === undefined) {
    if (realClock.monotonic() > deadline) throw new Error(`the runtime does not show ${image} though it was loaded`);
    await realClock.sleep(20, signal);
  }
}

async function list(options: ListOptions, context: CliContext): Promise<void> {
  using runtime = openRuntime(await endpointOf(options, context));
  const images = (await runtime.listImages(undefined, { signal: context.signal })).map(({ id, repoTags, repoDigests, sizeBytes }) => ({
    names: repoTags.length > 0 ? repoTags : repoDigests,
    id,
    sizeBytes,
  }));
  const rows = images
    .flatMap(({ names, id, sizeBytes }) => (names.length > 0 ? names : ['<none>']).map((name) => ({ name, id, sizeBytes })))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  printData(context, { format: options.output, data: images, text: () => table(rows) });
}

function table(rows: readonly { readonly name: string; readonly id: string; readonly sizeBytes: number }[]): string {
  const lengths = rows.map(({ name }) => name.length);
  const width = maxOf(lengths, 4) + 3;
  const lines = rows.map(({ name, id, sizeBytes }) => `${name.padEnd(width)}${shortId(id).padEnd(16)}${(sizeBytes / 1e6).toFixed(1)} MB`);
  return [`${'NAME'.padEnd(width)}${'ID'.padEnd(16)}SIZE`, ...lines].join('\n');
}

function shortId(id: string): string {
  return id.replace(/^sha256:/, '').slice(0, 13);
}

async function remove(names: readonly string[], options: LocationOptions, context: CliContext): Promise<void> {
  using runtime = openRuntime(await endpointOf(options, context));
  for (const image of names) {
    if ((await runtime.imageStatus({ image }, { signal: context.signal })) === undefined)
      throw new Error(`there is no image ${image} on the node`);
    await runtime.removeImage({ image }, { signal: context.signal });
    context.print(`Removed ${image}`);
  }
}

function openRuntime(endpoint: string): GrpcRuntime {
  return new GrpcRuntime({ endpoint }, { clock: realClock, logger: silentLogger, streaming: noStreaming });
}

async function endpointOf(options: LocationOptions, context: CliContext): Promise<string> {
  const running = await readRunning(directoryOf(options, context));
  if (running === undefined) throw new Error(`cluster '${options.name}' does not run; start it with: sampan up${locationFlags(options)}`);
  const endpoint = running.runtime?.endpoint;
  if (endpoint === undefined)
    throw new UsageError(
      `cluster '${options.name}' has simulated nodes only, which have no images`,
      'see docs/nodes.md for real containers',
    );
  return endpoint;
}
