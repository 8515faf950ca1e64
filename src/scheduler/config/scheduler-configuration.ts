import { ConfigurationReader, type Fields } from '#machinery';
import { type ExtenderConfiguration, readExtenders } from '../extenders/extender-configuration.ts';
import { PLUGINS } from '../plugins/registry.ts';
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
  /** `*`: all. */
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
  readonly extenders: readonly ExtenderConfiguration[];
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

/** Reads a KubeSchedulerConfiguration; without one, the defaults. Throws SchedulerConfigurationError with all errors. */
export function readSchedulerConfiguration(input: unknown = {}): SchedulerConfiguration {
  const reader = new Reader();
  const fields = reader.object(input, 'configuration');
  reader.rejectUnknownFields(fields, TOP_FIELDS, '');
  reader.oneOf(fields.apiVersion, 'apiVersion', ['kubescheduler.config.k8s.io/v1']);
  reader.oneOf(fields.kind, 'kind', ['KubeSchedulerConfiguration']);
  const extenders = readExtenders(fields.extenders, reader);
  const initial = reader.number(fields.podInitialBackoffSeconds, 'podInitialBackoffSeconds', { fallback: 1, min: 1 });
  const most = reader.number(fields.podMaxBackoffSeconds, 'podMaxBackoffSeconds', { fallback: 10, min: 1 });
  if (most < initial) reader.fail('podMaxBackoffSeconds', 'must be greater than or equal to podInitialBackoffSeconds');
  const configuration: SchedulerConfiguration = {
    profiles: reader.profiles(fields.profiles).map((profile) => withoutManagedResources(profile, extenders)),
    extenders,
    percentageOfNodesToScore: reader.number(fields.percentageOfNodesToScore, 'percentageOfNodesToScore', { fallback: 0, min: 0, max: 100 }),
    podInitialBackoffSeconds: initial,
    podMaxBackoffSeconds: most,
    ...readProcessSettings(fields, reader),
  };
  if (reader.problems.length > 0) throw new SchedulerConfigurationError(reader.problems);
  return configuration;
}

/** NodeResourcesFit ignores resources that an extender manages with `ignoredByScheduler`, regardless of its own arguments. */
function withoutManagedResources(profile: ProfileConfiguration, extenders: readonly ExtenderConfiguration[]): ProfileConfiguration {
  const managed = extenders.flatMap(({ managedResources }) => managedResources);
  const ignoredResources = managed.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name);
  if (ignoredResources.length === 0) return profile;
  const args = { ...profile.pluginConfig.get('NodeResourcesFit'), ignoredResources };
  return { ...profile, pluginConfig: new Map([...profile.pluginConfig, ['NodeResourcesFit', args]]) };
}

class Reader extends ConfigurationReader {
  profiles(input: unknown): readonly ProfileConfiguration[] {
    const profiles = this.list(input, 'profiles').map((profile, i) => this.profile(profile, `profiles[${i}]`));
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

  profile(input: unknown, path: string): ProfileConfiguration {
    const fields = this.object(input, path);
    this.rejectUnknownFields(fields, ['schedulerName', 'percentageOfNodesToScore', 'plugins', 'pluginConfig'], path);
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

  plugins(input: unknown, path: string): ProfileConfiguration['plugins'] {
    const fields = this.object(input, path);
    const points = [...EXTENSION_POINTS, 'multiPoint'] as const;
    this.rejectUnknownFields(fields, points, path);
    const plugins: Partial<Record<ExtensionPoint | 'multiPoint', PluginSelection>> = {};
    for (const point of points) if (fields[point] !== undefined) plugins[point] = this.selection(fields[point], `${path}.${point}`);
    return plugins;
  }

  selection(input: unknown, path: string): PluginSelection {
    const fields = this.object(input, path);
    this.rejectUnknownFields(fields, ['enabled', 'disabled'], path);
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
    const exists = PLUGINS.some((plugin) => plugin.name === name) || (allowsAll && name === '*');
    if (!exists && !this.problems.some((problem) => problem.startsWith(`${path}:`))) this.fail(path, `there is no plugin "${name}"`);
    return name;
  }

  pluginConfig(input: unknown, path: string): ReadonlyMap<string, Fields> {
    const configs = new Map<string, Fields>();
    this.list(input, path).forEach((entry, i) => {
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
