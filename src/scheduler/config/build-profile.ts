import type { Plugin, PluginHandle } from '../framework/plugin.ts';
import { Profile, type ProfilePlugins, type ScoringPlugin } from '../framework/profile.ts';
import { PLUGINS, type RegisteredPlugin } from '../plugins/registry.ts';
import { EXTENSION_POINTS, type ExtensionPoint, type PluginSelection, type ProfileConfiguration } from './scheduler-configuration.ts';

/** The method by which a plugin takes part in an extension point. */
const METHODS: Readonly<Record<ExtensionPoint, keyof Plugin>> = {
  preEnqueue: 'preEnqueue',
  queueSort: 'compare',
  preFilter: 'preFilter',
  filter: 'filter',
  postFilter: 'postFilter',
  preScore: 'preScore',
  score: 'score',
  reserve: 'reserve',
  permit: 'permit',
  preBind: 'preBind',
  bind: 'bind',
  postBind: 'postBind',
};

interface EnabledPlugin {
  readonly plugin: Plugin;
  readonly weight: number;
}

/** The default plugins, as the profile's configuration changes them. */
export function buildProfile(config: ProfileConfiguration, handle: PluginHandle): Profile {
  const pluginsByName = new Map<string, Plugin>();
  const make = (registered: RegisteredPlugin): Plugin => {
    const instance = pluginsByName.get(registered.name) ?? registered.make(config.pluginConfig.get(registered.name) ?? {}, handle);
    pluginsByName.set(registered.name, instance);
    return instance;
  };
  const everywhere = select(
    config.plugins.multiPoint,
    PLUGINS.map(({ name }) => ({ name })),
  );
  const points = {} as Record<ExtensionPoint, readonly EnabledPlugin[]>;
  for (const point of EXTENSION_POINTS) points[point] = enabledAt(point, { everywhere, own: config.plugins[point], make });
  const plugins = (point: ExtensionPoint): readonly Plugin[] => points[point].map(({ plugin }) => plugin);
  const [queueSort] = plugins('queueSort');
  if (queueSort === undefined) throw new TypeError(`profile "${config.schedulerName}" has no queueSort plugin`);
  if (plugins('bind').length === 0) throw new TypeError(`profile "${config.schedulerName}" has no bind plugin`);
  const byPoint: ProfilePlugins = {
    preEnqueue: plugins('preEnqueue'),
    queueSort,
    preFilter: plugins('preFilter'),
    filter: plugins('filter'),
    postFilter: plugins('postFilter'),
    preScore: plugins('preScore'),
    score: points.score as readonly ScoringPlugin[],
    reserve: plugins('reserve'),
    permit: plugins('permit'),
    preBind: plugins('preBind'),
    bind: plugins('bind'),
    postBind: plugins('postBind'),
  };
  return new Profile(config.schedulerName, byPoint, config.percentageOfNodesToScore);
}

type NamedPlugin = { readonly name: string; readonly weight?: number | undefined };

/** The defaults without the disabled ones, then the enabled ones; a default that is enabled again keeps its position and gets the new weight. */
function select(selection: PluginSelection | undefined, defaults: readonly NamedPlugin[]): readonly NamedPlugin[] {
  const disabled = new Set(selection?.disabled ?? []);
  const enabled = new Map((selection?.enabled ?? []).map((plugin) => [plugin.name, plugin]));
  const enabledDefaults = defaults.filter(({ name }) => !disabled.has('*') && !disabled.has(name));
  const names = new Set(enabledDefaults.map(({ name }) => name));
  return [
    ...enabledDefaults.map((plugin) => enabled.get(plugin.name) ?? plugin),
    ...[...enabled.values()].filter(({ name }) => !names.has(name)),
  ];
}

interface PointSelection {
  readonly everywhere: readonly NamedPlugin[];
  readonly own: PluginSelection | undefined;
  make(registered: RegisteredPlugin): Plugin;
}

/** Plugins enabled at the extension point come before those of multiPoint. */
function enabledAt(point: ExtensionPoint, { everywhere, own, make }: PointSelection): readonly EnabledPlugin[] {
  const disabled = new Set(own?.disabled ?? []);
  const specific = own?.enabled ?? [];
  const named = new Set(specific.map(({ name }) => name));
  const general = everywhere.filter(({ name }) => !disabled.has('*') && !disabled.has(name) && !named.has(name));
  return [...specific, ...general].flatMap(({ name, weight }) => {
    const registered = PLUGINS.find((candidate) => candidate.name === name) as RegisteredPlugin;
    const plugin = make(registered);
    return plugin[METHODS[point]] === undefined ? [] : [{ plugin, weight: weight || registered.weight || 1 }];
  });
}
