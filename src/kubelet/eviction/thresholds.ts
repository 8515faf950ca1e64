import { lookupTable } from '#base';
import { parseDurationMs, Quantity } from '#machinery';

/** Eviction signals, by upstream's names. */
export type Signal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

/** The starved resource. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';
export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** A quantity, or a fraction of the capacity from 0 to 1. */
export type ThresholdValue = { readonly amount: number; readonly text: string } | { readonly share: number };

export interface Threshold {
  readonly signal: Signal;
  readonly value: ThresholdValue;
  /** 0: a hard threshold. */
  readonly graceMs: number;
  /** How far above the threshold the resource must be before the pressure ends. */
  readonly minReclaim?: ThresholdValue;
}

/** As in KubeletConfiguration. */
export interface EvictionConfig {
  readonly evictionHard?: Readonly<Record<string, string>>;
  readonly evictionSoft?: Readonly<Record<string, string>>;
  readonly evictionSoftGracePeriod?: Readonly<Record<string, string>>;
  readonly evictionMinimumReclaim?: Readonly<Record<string, string>>;
  /** Default 5 min. */
  readonly evictionPressureTransitionPeriodMs?: number;
  /** For soft thresholds. Default 0. */
  readonly evictionMaxPodGracePeriod?: number;
}

export const DEFAULT_EVICTION_HARD = lookupTable<string>({
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
});

const SIGNALS = lookupTable<{ readonly resource: StarvedResource; readonly condition: PressureCondition }>({
  'memory.available': { resource: 'memory', condition: 'MemoryPressure' },
  'allocatableMemory.available': { resource: 'memory', condition: 'MemoryPressure' },
  'nodefs.available': { resource: 'ephemeral-storage', condition: 'DiskPressure' },
  'nodefs.inodesFree': { resource: 'inodes', condition: 'DiskPressure' },
  'imagefs.available': { resource: 'ephemeral-storage', condition: 'DiskPressure' },
  'imagefs.inodesFree': { resource: 'inodes', condition: 'DiskPressure' },
  'pid.available': { resource: 'pids', condition: 'PIDPressure' },
});

export function resourceOf(signal: Signal): StarvedResource {
  return signalFacts(signal).resource;
}

export function conditionOf(signal: Signal): PressureCondition {
  return signalFacts(signal).condition;
}

function signalFacts(signal: string) {
  const facts = SIGNALS[signal];
  if (facts === undefined) throw new TypeError(`unsupported eviction signal ${signal}`);
  return facts;
}

/** The configured thresholds, including `allocatableMemory.available`. Throws in upstream's words. */
export function parseThresholds(config: EvictionConfig): readonly Threshold[] {
  const { evictionHard = DEFAULT_EVICTION_HARD, evictionSoft = {}, evictionSoftGracePeriod = {}, evictionMinimumReclaim = {} } = config;
  const graces = new Map(Object.entries(evictionSoftGracePeriod).map(([signal, text]) => [signalOf(signal), graceMs(text)]));
  const reclaims = new Map(Object.entries(evictionMinimumReclaim).map(([signal, text]) => [signalOf(signal), reclaimValue(signal, text)]));
  const hard = Object.entries(evictionHard).flatMap(([signal, text]) => threshold(signal, text, 0));
  const soft = Object.entries(evictionSoft).flatMap(([signal, text]) => {
    const grace = graces.get(signalOf(signal));
    if (grace === undefined) throw new TypeError(`grace period must be specified for the soft eviction threshold ${signal}`);
    return threshold(signal, text, grace);
  });
  const all = [...hard, ...soft].map((entry) => {
    const minReclaim = reclaims.get(entry.signal);
    return minReclaim === undefined ? entry : { ...entry, minReclaim };
  });
  const ofPods = all.filter(({ signal, graceMs: grace }) => signal === 'memory.available' && grace === 0);
  return [...all, ...ofPods.map((entry) => ({ ...entry, signal: 'allocatableMemory.available' as const }))];
}

function signalOf(name: string): Signal {
  signalFacts(name);
  return name as Signal;
}

/** 0% and 100% disable a threshold. */
function threshold(name: string, text: string, grace: number): readonly Threshold[] {
  const signal = signalOf(name);
  if (text === '0%' || text === '100%') return [];
  if (text.endsWith('%')) {
    const share = percentage(text);
    if (share < 0) throw new TypeError(`eviction percentage threshold ${name} must be >= 0%: ${text}`);
    if (share > 1) throw new TypeError(`eviction percentage threshold ${name} must be <= 100%: ${text}`);
    return [{ signal, value: { share }, graceMs: grace }];
  }
  const quantity = Quantity.parse(text);
  if (quantity.sign <= 0) throw new TypeError(`eviction threshold ${name} must be positive: ${quantity}`);
  return [{ signal, value: { amount: quantity.value(), text: quantity.toString() }, graceMs: grace }];
}

function percentage(text: string): number {
  const number = Number(text.slice(0, -1));
  if (!Number.isFinite(number)) throw new TypeError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  // Upstream computes percentages as float32, which shows in messages.
  return Math.fround(Math.fround(number) / 100);
}

function graceMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms < 0) throw new TypeError(`invalid eviction grace period specified: ${text}, must be a positive value`);
  return ms;
}

function reclaimValue(signal: string, text: string): ThresholdValue {
  if (text.endsWith('%')) {
    const share = percentage(text);
    if (share <= 0) throw new TypeError(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
    return { share };
  }
  const quantity = Quantity.parse(text);
  if (quantity.sign < 0) throw new TypeError(`negative eviction minimum reclaim specified for ${signal}`);
  return { amount: quantity.value(), text: quantity.toString() };
}

/** The threshold's amount for a capacity. */
export function thresholdAmount(value: ThresholdValue, capacity: number): number {
  return 'amount' in value ? value.amount : Math.floor(capacity * value.share);
}
