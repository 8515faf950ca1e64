import type { core } from '#api';
import { lookupTable } from '#base';

export interface FieldFacts {
  readonly pod: core.Pod;
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
}

/** The value of a downward API field. Throws on unknown fields. */
export function fieldValue(path: string, { pod, podIps, hostIps }: FieldFacts): string {
  const { metadata, spec } = pod;
  switch (path) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return formatMap(metadata.labels ?? {});
    case 'metadata.annotations':
      return formatMap(metadata.annotations ?? {});
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIps[0] ?? '';
    case 'status.hostIPs':
      return hostIps.join(',');
    case 'status.podIP':
      return podIps[0] ?? '';
    case 'status.podIPs':
      return podIps.join(',');
    default:
      return subscriptValue(path, pod);
  }
}

function subscriptValue(path: string, { metadata }: core.Pod): string {
  const open = path.indexOf("['");
  if (open < 0 || !path.endsWith("']")) throw new Error(`unsupported fieldPath: ${path}`);
  const key = path.slice(open + 2, -2);
  switch (path.slice(0, open)) {
    case 'metadata.labels':
      return own(metadata.labels, key);
    case 'metadata.annotations':
      return own(metadata.annotations, key);
    default:
      throw new Error(`fieldPath ${JSON.stringify(path)} does not support subscript`);
  }
}

function own(map: Readonly<Record<string, string>> | undefined, key: string): string {
  return map !== undefined && Object.hasOwn(map, key) ? (map[key] as string) : '';
}

/** Sorted `key="value"` lines, quoted as in Go. */
export function formatMap(map: Readonly<Record<string, string>>): string {
  const keys = Object.keys(map).sort();
  return keys.map((key) => `${key}=${goQuoted(map[key] as string)}`).join('\n');
}

function goQuoted(text: string): string {
  const quoted = JSON.stringify(text).replace(/\\u00([01][0-9a-f])/g, (_, code: string) => GO_ESCAPES[code] ?? `\\x${code}`);
  return quoted.replace(/\u007f/g, '\\x7f').replace(/[\u2028\u2029\ufeff]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
}

const GO_ESCAPES = lookupTable<string>({ '07': '\\a', '0b': '\\v' });
