import type { core } from '#api';
import type { ProjectedFile } from '../files/atomic-writer.ts';

export interface KeyedSource {
  readonly items?: readonly core.KeyToPath[] | undefined;
  readonly optional?: boolean | undefined;
}

type Bytes = string | Uint8Array;
export type KeyedData = ReadonlyMap<string, Uint8Array>;

export function configMapData({ data, binaryData }: core.ConfigMap): KeyedData {
  const entries = Object.entries(data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'utf8')] as const);
  return new Map([
    ...entries,
    ...Object.entries((binaryData ?? {}) as Record<string, Bytes>).map(([key, value]) => [key, decoded(value)] as const),
  ]);
}

export function secretData({ data }: core.Secret): KeyedData {
  return new Map(Object.entries((data ?? {}) as Record<string, Bytes>).map(([key, value]) => [key, decoded(value)]));
}

function decoded(value: Bytes): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : value;
}

export interface KeyedPayloadOptions {
  readonly defaultMode: number;
  /** The error for a missing requested key. */
  missingKey(key: string): string;
}

/** All keys as files, or only the requested items. */
export function keyedPayload(data: KeyedData, source: KeyedSource, options: KeyedPayloadOptions): Map<string, ProjectedFile> {
  const { defaultMode } = options;
  const files = new Map<string, ProjectedFile>();
  if (source.items === undefined || source.items.length === 0) {
    for (const [key, bytes] of data) files.set(key, { data: bytes, mode: defaultMode });
    return files;
  }
  for (const { key, path, mode } of source.items) {
    const bytes = data.get(key);
    if (bytes !== undefined) files.set(path, { data: bytes, mode: mode ?? defaultMode });
    else if (source.optional !== true) throw new Error(options.missingKey(key));
  }
  return files;
}

export const missingConfigMapKey = (key: string): string => `configmap references non-existent config key: ${key}`;
export const missingSecretKey = (key: string): string => `references non-existent secret key: ${key}`;
