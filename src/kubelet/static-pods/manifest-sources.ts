import { type FSWatcher, watch } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { core } from '#api';
import { type Clock, childSignal, type Logger, pushAll } from '#base';
import { decodeManifest } from './decode-manifest.ts';

export interface ManifestSource {
  readonly name: 'file' | 'http';
  /** All pods of the source. Rejects when it cannot be read: the previous pods stay. */
  read(): Promise<readonly core.Pod[]>;
  readonly periodMs: number;
  /** Notifies of possible changes. Absent: polling only. */
  watch?(onChange: () => void): Disposable;
}

export interface SourceDeps {
  readonly nodeName: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MAX_BYTES = 10 * 1024 * 1024;

/** A directory of manifests, or one file. Dot files are ignored, and invalid ones are logged. */
export function fileSource(path: string, periodMs: number, deps: SourceDeps): ManifestSource {
  return {
    ...{ name: 'file', periodMs },
    read: async () => {
      const info = await stat(path).catch(() => undefined);
      if (info === undefined) return [];
      if (info.isFile()) return podsOf(path, deps);
      const names = (await readdir(path)).filter((name) => !name.startsWith('.')).sort();
      const pods: core.Pod[] = [];
      for (const name of names) {
        try {
          if ((await stat(join(path, name))).isFile()) pushAll(pods, await podsOf(join(path, name), deps));
        } catch (error) {
          deps.logger.error('Could not process manifest file', { path: join(path, name), error });
        }
      }
      return pods;
    },
    watch: (onChange) => watchPath(path, onChange),
  };
}

async function podsOf(place: string, { nodeName, clock }: SourceDeps): Promise<readonly core.Pod[]> {
  await using file = await open(place);
  const { size } = await file.stat();
  if (size > MAX_BYTES) throw new Error(`${place} is larger than ${MAX_BYTES} bytes`);
  const text = await file.readFile('utf8');
  return decodeManifest(text, { source: 'file', place, nodeName, nowMs: clock.now() });
}

/** Where watching is not supported, polling remains. */
function watchPath(path: string, onChange: () => void): Disposable {
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(path, { persistent: false }, onChange);
    watcher.on('error', () => watcher?.close());
  } catch {
    return { [Symbol.dispose]: () => {} };
  }
  return { [Symbol.dispose]: () => watcher?.close() };
}

const REQUEST_MS = 10_000;

/** A URL that serves a pod or a list of pods. */
export function httpSource(
  url: string,
  { headers, periodMs }: { readonly headers: Readonly<Record<string, readonly string[]>>; readonly periodMs: number },
  { nodeName, clock }: SourceDeps,
): ManifestSource {
  const lines = Object.entries(headers).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  return {
    ...{ name: 'http', periodMs },
    read: async () => {
      const response = await fetch(url, { headers: lines, signal: AbortSignal.timeout(REQUEST_MS) });
      if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
      const text = await limitedText(response);
      if (text === '') throw new Error(`zero-length data received from ${url}`);
      return decodeManifest(text, { source: 'http', place: url, nodeName, nowMs: clock.now() });
    },
  };
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`an answer of more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reports a source's pods, and again whenever they may have changed, until the signal aborts. */
export async function followSource(
  source: ManifestSource,
  { clock, logger, onPods }: SourceDeps & { onPods(pods: readonly core.Pod[]): void },
  signal: AbortSignal,
): Promise<void> {
  let pause = childSignal(signal);
  using _watch = source.watch?.(() => pause.abort());
  while (!signal.aborted) {
    pause = childSignal(signal);
    try {
      onPods(await source.read());
    } catch (error) {
      if (!signal.aborted) logger.error('static pods could not be read', { source: source.name, error });
    }
    await clock.sleep(source.periodMs, pause.signal).catch(() => {});
    pause.abort();
  }
}
