import type { core } from '#api';
import { compareBytes, goQuote } from '#machinery';
import { resourceFieldValue } from '../../resource-field.ts';
import type { ProjectedFile } from '../files/atomic-writer.ts';

export interface DownwardApiContext {
  readonly pod: core.Pod;
  readonly defaultMode: number;
  readonly allocatable?: Readonly<Record<string, string>> | undefined;
}

/** Downward API: fields of the pod and resources of its containers, as files. */
export function downwardApiPayload(items: readonly core.DownwardAPIVolumeFile[], context: DownwardApiContext): Map<string, ProjectedFile> {
  const files = new Map<string, ProjectedFile>();
  for (const { path, mode, fieldRef, resourceFieldRef } of items) {
    const text = fieldRef
      ? fieldText(context.pod, fieldRef.fieldPath)
      : resourceFieldRef && resourceFieldValue(resourceFieldRef, { pod: context.pod, allocatable: context.allocatable });
    if (text !== undefined) files.set(path, { data: Buffer.from(text, 'utf8'), mode: mode ?? context.defaultMode });
  }
  return files;
}

const SUBSCRIPT = /^metadata\.(labels|annotations)\['([^']*)'\]$/;

function fieldText({ metadata }: core.Pod, path: string): string {
  const subscript = SUBSCRIPT.exec(path);
  if (subscript !== null) return metadata[subscript[1] as 'labels' | 'annotations']?.[subscript[2] as string] ?? '';
  switch (path) {
    case 'metadata.labels':
      return mapText(metadata.labels);
    case 'metadata.annotations':
      return mapText(metadata.annotations);
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    default:
      throw new Error(`unsupported fieldPath: ${path}`);
  }
}

function mapText(map: Readonly<Record<string, string>> = {}): string {
  const keys = Object.keys(map).sort(compareBytes);
  return keys.map((key) => `${key}=${goQuote(map[key] as string)}`).join('\n');
}
