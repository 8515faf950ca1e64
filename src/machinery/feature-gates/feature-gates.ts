import { GATE_DEPENDENCIES } from './gate-dependencies.ts';
import { KNOWN_GATES } from './known-gates.ts';

export type GateStage = 'PreAlpha' | 'Alpha' | 'Beta' | 'GA' | 'Deprecated';

/** A feature gate as of one release. */
export interface GateState {
  readonly name: string;
  readonly stage: GateStage;
  readonly isEnabled: boolean;
}

interface GateSpec {
  readonly since: string;
  readonly stage: GateStage;
  readonly default: boolean;
  readonly isLocked: boolean;
}

/** The release that is emulated, and the oldest one that objects must stay readable for; as in `1.36`. */
export interface GateReleases {
  readonly emulated: string;
  readonly minCompatibility: string;
}

export type GateSettings = ReadonlyMap<string, boolean>;

/** Gates that set all features of a stage. */
const CLASSES: ReadonlyMap<string, GateStage> = new Map([
  ['AllAlpha', 'Alpha'],
  ['AllBeta', 'Beta'],
]);
const UNKNOWN_BEFORE: GateSpec = { since: '0.0', stage: 'PreAlpha', default: false, isLocked: false };
/** The component whose gates these are, where a flag names it. */
const COMPONENT = 'kube';

/** `Name=bool` pairs, separated by commas. Throws with upstream's text for invalid ones. */
export function parseFeatureGates(text: string): GateSettings {
  const settings = new Map<string, boolean>();
  for (const pair of text.split(',').map((part) => part.trim())) {
    if (pair === '') continue;
    const { name, isEnabled } = gateSetting(pair);
    settings.set(name, isEnabled);
  }
  return settings;
}

function gateSetting(pair: string): { readonly name: string; readonly isEnabled: boolean } {
  const at = pair.indexOf('=');
  const [component, name] = gateName(at < 0 ? pair : pair.slice(0, at).trim());
  if (component !== COMPONENT) throw new Error(`component not registered: ${component}`);
  if (at < 0) throw new Error(`missing bool value for ${name}`);
  const value = pair.slice(at + 1).trim();
  const isEnabled = TRUTHS.get(value);
  if (isEnabled !== undefined) return { name, isEnabled };
  throw new Error(`invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`);
}

function gateName(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  return colon < 0 ? [COMPONENT, text] : [text.slice(0, colon), text.slice(colon + 1)];
}

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

/** The feature gates of one server. */
export class FeatureGates {
  readonly #states: ReadonlyMap<string, GateState>;

  /** Throws for unknown gates, and for values that cannot be set. */
  constructor(settings: GateSettings, releases: GateReleases) {
    const specs = new Map(Object.keys(KNOWN_GATES).map((name) => [name, specOf(KNOWN_GATES[name]!, releases.emulated)]));
    for (const [name, isEnabled] of settings) checkSetting({ name, isEnabled }, specs.get(name), releases);
    this.#states = new Map([...specs].map(([name, spec]) => [name, stateOf(name, spec, settings)]));
    if (settings.size > 0) this.#checkDependencies();
  }

  isEnabled(name: string): boolean {
    return this.#states.get(name)?.isEnabled ?? false;
  }

  #checkDependencies(): void {
    const problems = [...GATE_DEPENDENCIES]
      .filter(([name]) => this.isEnabled(name))
      .map(([name, needed]) => ({ name, disabled: needed.filter((dependency) => !this.isEnabled(dependency)) }))
      .filter(({ disabled }) => disabled.length > 0)
      .map(({ name, disabled }) => `${name} is enabled, but depends on features that are disabled: [${disabled.join(' ')}]`);
    if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
  }

  all(): Iterable<GateState> {
    return this.#states.values();
  }
}

function checkSetting(setting: { name: string; isEnabled: boolean }, spec: GateSpec | undefined, releases: GateReleases): void {
  const { name, isEnabled } = setting;
  if (CLASSES.has(name)) return;
  if (spec === undefined) throw new Error(`unrecognized feature gate: ${name}`);
  const set = `cannot set feature gate ${name} to ${isEnabled}, feature is`;
  if (spec.isLocked && spec.default !== isEnabled) throw new Error(`${set} locked to ${spec.default}`);
  if (spec.stage !== 'PreAlpha') return;
  throw new Error(`${set} PreAlpha at emulated version ${releases.emulated}, min compatibility version ${releases.minCompatibility}`);
}

function stateOf(name: string, spec: GateSpec, settings: GateSettings): GateState {
  const ofStage = [...CLASSES].find(([, stage]) => stage === spec.stage)?.[0];
  const isEnabled = settings.get(name) ?? (ofStage === undefined ? undefined : settings.get(ofStage)) ?? spec.default;
  return { name, stage: spec.stage, isEnabled };
}

/** The stage and default of a release, from a history such as `1.30 Alpha off, 1.33 Beta on`. */
function specOf(history: string, release: string): GateSpec {
  const specs = history.split(', ').map((entry): GateSpec => {
    const [since = '', stage, state, lock] = entry.split(' ');
    return { since, stage: stage as GateStage, default: state === 'on', isLocked: lock === 'locked' };
  });
  return specs.findLast(({ since }) => minorOf(since) <= minorOf(release)) ?? UNKNOWN_BEFORE;
}

/** All releases have the same major version. */
function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1));
}
