import { PLUGINS } from '../plugins/registry.ts';
import { ConfigurationReader, type Fields } from './configuration-reader.ts';
import { validatePluginArgs } from './plugin-args.ts';
import { type ProcessSettings, readProcessSettings } from './process-settings.ts';

export const EXTENSION_POINTS = [
  'preEnqueue',
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const;
export type ExtensionPoint = (typeof EXTENSION_POINTS)[number];

export interface PluginSelection {
  readonly enabled: readonly { readonly name: string; readonly weight?: number | undefined }[];
  /** `*` stands for all. */
  readonly disabled: readonly string[];
}

export interface ProfileConfiguration {
  readonly schedulerName: string;
  readonly percentageOfNodesToScore: number | undefined;
  readonly plugins: Readonly<Partial<Record<ExtensionPoint | 'multiPoint', PluginSelection>>>;
  /** Arguments by the plugin's name. */
  readonly pluginConfig: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

export interface SchedulerConfiguration extends ProcessSettings {
  readonly profiles: readonly ProfileConfiguration[];
  /** 0: adapted to the size of the cluster. */
  readonly percentageOfNodesToScore: number;
  readonly podInitialBackoffSeconds: number;
  readonly podMaxBackoffSeconds: number;
}

export class SchedulerConfigurationError extends Error {
  override readonly name = 'SchedulerConfigurationError';
  constructor(readonly problems: readonly string[]) {
    super(`invalid scheduler configuration: ${problems.join('; ')}`);
  }
}

const TOP_FIELDS = [
  'apiVersion',
  'kind',
  'parallelism',
  'leaderElection',
  'clientConnection',
  'enableProfiling',
  'enableContentionProfiling',
  'percentageOfNodesToScore',
  'podInitialBackoffSeconds',
  'podMaxBackoffSeconds',
  'profiles',
  'extenders',
  'delayCacheUntilActive',
];

/** Reads a KubeSchedulerConfiguration; without one, the defaults. Throws SchedulerConfigurationError with all that is wrong. */
export function readSchedulerConfiguration(given: unknown = {}): SchedulerConfiguration {
  const reader = new Reader();
  const fields = reader.object(given, 'configuration');
  reader.known(fields, TOP_FIELDS, '');
  reader.oneOf(fields.apiVersion, 'apiVersion', ['kubescheduler.config.k8s.io/v1']);
  reader.oneOf(fields.kind, 'kind', ['KubeSchedulerConfiguration']);
  if (Array.isArray(fields.extenders) && fields.extenders.length > 0) reader.fail('extenders', 'extenders are not supported');
  const initial = reader.number(fields.podInitialBackoffSeconds, 'podInitialBackoffSeconds', { fallback: 1, min: 1 });
  const most = reader.number(fields.podMaxBackoffSeconds, 'podMaxBackoffSeconds', { fallback: 10, min: 1 });
  if (most < initial) reader.fail('podMaxBackoffSeconds', 'must be greater than or equal to podInitialBackoffSeconds');
  const configuration: SchedulerConfiguration = {
    profiles: reader.profiles(fields.profiles),
    percentageOfNodesToScore: reader.number(fields.percentageOfNodesToScore, 'percentageOfNodesToScore', { fallback: 0, min: 0, max: 100 }),
    podInitialBackoffSeconds: initial,
    podMaxBackoffSeconds: most,
    ...readProcessSettings(fields, reader),
  };
  if (reader.problems.length > 0) throw new SchedulerConfigurationError(reader.problems);
  return configuration;
}

class Reader extends ConfigurationReader {
  profiles(given: unknown): readonly ProfileConfiguration[] {
    const profiles = this.list(given, 'profiles').map((profile, i) => this.profile(profile, `profiles[${i}]`));
    if (profiles.length === 0) return [this.profile({}, 'profiles[0]')];
    const names = profiles.map(({ schedulerName }) => schedulerName);
    names.forEach((name, i) => {
      if (names.indexOf(name) < i) this.fail(`profiles[${i}].schedulerName`, `duplicate value "${name}"`);
    });
    // One queue serves all profiles: they must agree on its order.
    const sorts = new Set(profiles.map(({ plugins }) => JSON.stringify(plugins.queueSort ?? null)));
    if (sorts.size > 1) this.fail('profiles', 'different queue sort plugins');
    return profiles;
  }

  profile(given: unknown, path: string): ProfileConfiguration {
    const fields = this.object(given, path);
    this.known(fields, ['schedulerName', 'percentageOfNodesToScore', 'plugins', 'pluginConfig'], path);
    const share = fields.percentageOfNodesToScore;
    return {
      schedulerName: this.text(fields.schedulerName, `${path}.schedulerName`, 'default-scheduler'),
      percentageOfNodesToScore:
        share === undefined || share === null
          ? undefined
          : this.number(share, `${path}.percentageOfNodesToScore`, { fallback: 0, min: 0, max: 100 }),
      plugins: this.plugins(fields.plugins, `${path}.plugins`),
      pluginConfig: this.pluginConfig(fields.pluginConfig, `${path}.pluginConfig`),
    };
  }

  plugins(given: unknown, path: string): ProfileConfiguration['plugins'] {
    const fields = this.object(given, path);
    const points = [...EXTENSION_POINTS, 'multiPoint'] as const;
    this.known(fields, points, path);
    const plugins: Partial<Record<ExtensionPoint | 'multiPoint', PluginSelection>> = {};
    for (const point of points) if (fields[point] !== undefined) plugins[point] = this.selection(fields[point], `${path}.${point}`);
    return plugins;
  }

  selection(given: unknown, path: string): PluginSelection {
    const fields = this.object(given, path);
    this.known(fields, ['enabled', 'disabled'], path);
    const read = (list: 'enabled' | 'disabled') =>
      this.list(fields[list], `${path}.${list}`).map((plugin, i) => {
        const at = `${path}.${list}[${i}]`;
        const { name, weight } = this.object(plugin, at);
        return { name: this.pluginName(name, `${at}.name`, list === 'disabled'), weight: weight as number | undefined, at };
      });
    for (const { weight, at } of read('enabled')) {
      if (weight !== undefined) this.number(weight, `${at}.weight`, { fallback: 1, min: 0, max: 100 });
    }
    return { enabled: read('enabled').map(({ name, weight }) => ({ name, weight })), disabled: read('disabled').map(({ name }) => name) };
  }

  pluginName(value: unknown, path: string, allowsAll: boolean): string {
    const name = this.text(value, path, '');
    const isKnown = PLUGINS.some((plugin) => plugin.name === name) || (allowsAll && name === '*');
    if (!isKnown && !this.problems.some((problem) => problem.startsWith(`${path}:`))) this.fail(path, `there is no plugin "${name}"`);
    return name;
  }

  pluginConfig(given: unknown, path: string): ReadonlyMap<string, Fields> {
    const configs = new Map<string, Fields>();
    this.list(given, path).forEach((entry, i) => {
      const at = `${path}[${i}]`;
      const { name, args } = this.object(entry, at);
      const plugin = this.pluginName(name, `${at}.name`, false);
      const fields = this.object(args, `${at}.args`);
      if (configs.has(plugin)) this.fail(at, `repeated config for plugin ${plugin}`);
      configs.set(plugin, fields);
      for (const problem of validatePluginArgs(plugin, fields)) this.problems.push(`${at}.args.${problem}`);
    });
    return configs;
  }
}
