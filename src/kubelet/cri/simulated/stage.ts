import { mergeAll } from '#base';
import { isJsonObject, parseYaml } from '#machinery';
import type { SandboxConfig } from '../runtime.ts';
import { CONTAINER_KEYS, containerScript, POD_KEYS, sandboxScript } from './script.ts';

/** The behaviour of matching pods, unless their annotations override it. Later stages override earlier ones. */
export interface Stage {
  readonly match: StageMatch;
  /** Values by annotation name without the prefix. */
  readonly set: Readonly<Record<string, string>>;
}

/** All present criteria must match; `*` matches any text. */
export interface StageMatch {
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The container's image. Such a stage does not affect the pod itself. */
  readonly image?: string;
}

export function stagedValues(stages: readonly Stage[], pod: SandboxConfig, image?: string): Readonly<Record<string, string>> {
  if (stages.length === 0) return NOTHING;
  return mergeAll(stages.filter(({ match }) => matches(match, pod, image)).map(({ set }) => set));
}

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

function matches({ namespace, name, labels = {}, image }: StageMatch, pod: SandboxConfig, ofContainer: string | undefined): boolean {
  if (!fits(namespace, pod.metadata.namespace) || !fits(name, pod.metadata.name)) return false;
  if (image !== undefined && (ofContainer === undefined || !fits(image, ofContainer))) return false;
  return Object.entries(labels).every(([key, value]) => pod.labels[key] !== undefined && fits(value, pod.labels[key]));
}

function fits(pattern: string | undefined, text: string): boolean {
  if (pattern === undefined || pattern === '*') return true;
  const parts = pattern.split('*');
  const [first = '', last = ''] = [parts.shift(), parts.pop()];
  if (parts.length === 0 && !pattern.includes('*')) return pattern === text;
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  // Leftmost matches leave the most text for the remaining parts.
  let position = first.length;
  for (const part of parts) {
    const at = text.indexOf(part, position);
    if (at < 0) return false;
    position = at + part.length;
  }
  return position <= end;
}

/** Parses a stage file: `stages:` with a list of `match` and `set`. Throws a TypeError with the position of the error. */
export function parseStageFile(text: string): readonly Stage[] {
  const document: unknown = parseYaml(text).value;
  if (!isJsonObject(document) || !Array.isArray(document.stages)) throw new TypeError('a stage file has one member, "stages": a list');
  rejectUnknownFields(document, ['stages'], 'the stage file');
  return document.stages.map((stage, index) => parseStage(stage, `stages[${index}]`));
}

function parseStage(stage: unknown, at: string): Stage {
  if (!isJsonObject(stage) || !isJsonObject(stage.set)) throw new TypeError(`${at} must have "set": a map of what pods do`);
  rejectUnknownFields(stage, ['match', 'set'], at);
  const set = Object.fromEntries(Object.entries(stage.set).map(([key, value]) => [key, scalar(value, `${at}.set.${key}`)]));
  for (const key of Object.keys(set)) checkKey(key, `${at}.set`);
  // Invalid values are reported now, not when the first pod starts.
  sandboxScript(set);
  containerScript(set, '');
  return { match: parseMatch(stage.match ?? {}, `${at}.match`), set };
}

function parseMatch(match: unknown, at: string): StageMatch {
  if (!isJsonObject(match)) throw new TypeError(`${at} must be a map`);
  rejectUnknownFields(match, ['namespace', 'name', 'labels', 'image'], at);
  const { labels, ...texts } = match;
  if (labels !== undefined && !isJsonObject(labels)) throw new TypeError(`${at}.labels must be a map`);
  const entries = Object.entries(texts).map(([key, value]) => [key, scalar(value, `${at}.${key}`)]);
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => [key, scalar(value, `${at}.labels.${key}`)]);
  return { ...Object.fromEntries(entries), ...(labels !== undefined && { labels: Object.fromEntries(pairs) }) };
}

function checkKey(key: string, at: string): void {
  const isSupported = POD_KEYS.includes(key) || CONTAINER_KEYS.some((name) => key === name || key.startsWith(`${name}.`));
  if (!isSupported) throw new TypeError(`${at} has an unknown member "${key}"; there are ${[...POD_KEYS, ...CONTAINER_KEYS].join(', ')}`);
}

function scalar(value: unknown, at: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError(`${at} must be a text or a number`);
}

function rejectUnknownFields(record: Record<string, unknown>, names: readonly string[], at: string): void {
  const other = Object.keys(record).find((key) => !names.includes(key));
  if (other !== undefined) throw new TypeError(`${at} has an unknown member "${other}"; there are ${names.join(', ')}`);
}
