import path from 'node:path';
import { formatDurationMs, type JsonValue, StrictConfigurationReader } from '#machinery';
import type { ImagePolicy } from '../plugins/image-policy-webhook.ts';
import type { ConfigurationFile } from './admission-configuration.ts';

const FIELDS = ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow'];
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const TTL = { unitMs: SECOND, minMs: SECOND, maxMs: 30 * MINUTE };

/** Throws with upstream's messages. */
export function readImagePolicy(value: JsonValue | undefined, file: ConfigurationFile): ImagePolicy {
  if (value === undefined) throw new Error('no config specified');
  const reader = new ImagePolicyReader();
  const policy = reader.policy(value, file);
  reader.throwIfInvalid();
  return policy;
}

interface Range {
  readonly unitMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  readonly defaultMs: number;
}

class ImagePolicyReader extends StrictConfigurationReader {
  policy(value: JsonValue, file: ConfigurationFile): ImagePolicy {
    const fields = this.object(this.object(value, '').imagePolicy, 'imagePolicy');
    this.rejectUnknownFields(fields, FIELDS, 'imagePolicy');
    const retryBackoffMs = this.#time(fields.retryBackoff, 'retryBackoff', { unitMs: 1, minMs: 0, maxMs: 5 * MINUTE, defaultMs: 500 });
    const allowTtlMs = this.#time(fields.allowTTL, 'allowTTL', { ...TTL, defaultMs: 5 * MINUTE });
    const denyTtlMs = this.#time(fields.denyTTL, 'denyTTL', { ...TTL, defaultMs: 30 * SECOND });
    const defaultAllow = this.boolean(fields.defaultAllow, 'imagePolicy.defaultAllow', false);
    const kubeconfig = this.text(fields.kubeConfigFile, 'imagePolicy.kubeConfigFile', '');
    if (kubeconfig === '') this.fail('imagePolicy.kubeConfigFile', 'must name a kubeconfig');
    return { kubeconfig: this.#kubeconfig(kubeconfig, file), allowTtlMs, denyTtlMs, retryBackoffMs, defaultAllow };
  }

  /** 0 is the default, -1 turns it off. */
  #time(value: unknown, name: string, { unitMs, minMs, maxMs, defaultMs }: Range): number {
    const count = this.number(value, `imagePolicy.${name}`, { fallback: 0, min: -(2 ** 31) });
    if (count === -1) return 0;
    if (count === 0) return defaultMs;
    const ms = count * unitMs;
    if (ms >= minMs && ms <= maxMs) return ms;
    const range = `${minMs === 0 ? '1ns' : formatDurationMs(minMs)} and ${formatDurationMs(maxMs)}`;
    this.fail(`imagePolicy.${name}`, `valid value is between ${range}, got ${formatDurationMs(ms)}`);
    return defaultMs;
  }

  #kubeconfig(name: string, { path: from, read }: ConfigurationFile): ImagePolicy['kubeconfig'] {
    const absolute = path.resolve(path.dirname(from), name);
    return { path: absolute, text: name === '' ? '' : read(absolute) };
  }
}
