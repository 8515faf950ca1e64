import { KINDS, type Kind, PRERELEASE_KINDS } from '#api';

/** As `--runtime-config`: keys `api/all`, `group/version` or `group/version/resource`. Later entries override earlier ones. */
export type RuntimeConfig = ReadonlyMap<string, string>;

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

interface Preference extends GroupVersion {
  readonly resource: string | undefined;
  readonly isEnabled: boolean;
}

/** Served unless it is switched off. */
const STABLE = /^v\d+$/;

/** Keys for many versions, in the order in which they are applied. */
const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['api/all', /^/],
  ['api/ga', STABLE],
  ['api/beta', /^v\d+beta\d+$/],
  ['api/alpha', /^v\d+alpha\d+$/],
]);

/** Versions that upstream still accepts although nothing is served in them. */
const RETIRED: ReadonlyMap<string, readonly string[]> = new Map([
  ['admission.k8s.io', ['v1', 'v1beta1']],
  ['apps', ['v1beta1', 'v1beta2']],
  ['authentication.k8s.io', ['v1alpha1', 'v1beta1']],
  ['authorization.k8s.io', ['v1beta1']],
  ['batch', ['v1beta1']],
  ['discovery.k8s.io', ['v1beta1']],
  ['events.k8s.io', ['v1beta1']],
  ['extensions', ['v1beta1']],
  ['flowcontrol.apiserver.k8s.io', ['v1beta1', 'v1beta2', 'v1beta3']],
  ['imagepolicy.k8s.io', ['v1alpha1']],
  ['node.k8s.io', ['v1alpha1', 'v1beta1']],
  ['policy', ['v1beta1']],
  ['rbac.authorization.k8s.io', ['v1alpha1', 'v1beta1']],
  ['scheduling.k8s.io', ['v1beta1']],
  ['storage.k8s.io', ['v1alpha1']],
]);

/** `key=value` pairs, separated by commas. A key alone has an empty value. */
export function parseRuntimeConfig(text: string): RuntimeConfig {
  const pairs = text
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '');
  return new Map(pairs.map((pair) => keyAndValue(pair)));
}

function keyAndValue(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  return at < 0 ? [pair, ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}

/** Decides which kinds are served. Throws in upstream's words on invalid keys and values. */
export function enablementOf(config: RuntimeConfig): (kind: Kind<unknown>) => boolean {
  const registered = registeredVersions();
  checkGroups(config, registered);
  const classes = [...CLASSES]
    .filter(([key]) => config.has(key))
    .map(([key, versions]) => ({ versions, isEnabled: classValue(config, key) }));
  const preferences = [...config].filter(([key]) => !CLASSES.has(key)).map((entry) => preferenceOf(entry, registered));
  return (kind) => {
    const named = preferences.filter(({ group, version }) => group === kind.group && version === kind.version);
    const own = named.findLast(({ resource }) => resource === kind.resource) ?? named.findLast(({ resource }) => resource === undefined);
    if (own !== undefined) return own.isEnabled;
    return classes.findLast(({ versions }) => versions.test(kind.version))?.isEnabled ?? STABLE.test(kind.version);
  };
}

function registeredVersions(): ReadonlyMap<string, ReadonlySet<string>> {
  const registered = new Map([...RETIRED].map(([group, versions]) => [group, new Set(versions)]));
  for (const { group, version } of [...KINDS, ...PRERELEASE_KINDS]) {
    registered.set(group, (registered.get(group) ?? new Set()).add(version));
  }
  return registered;
}

function checkGroups(config: RuntimeConfig, registered: ReadonlyMap<string, unknown>): void {
  if (config.size === 1 && config.get('api/all') === 'false') throw new Error('invalid runtime-config with only api/all=false');
  const unknown = [...config.keys()]
    .filter((key) => !CLASSES.has(key))
    .map((key) => ({ key, ...groupVersionOf(key) }))
    .filter(({ group }) => !registered.has(group));
  if (unknown.length > 0) throw new Error(`unknown api groups ${[...new Set(unknown.map(versionText))].sort().join(',')}`);
}

function groupVersionOf(key: string): GroupVersion {
  const [group = '', version, , ...rest] = key.split('/');
  if (version === undefined || rest.length > 0) throw new Error(`runtime-config invalid key ${key}`);
  return { group, version };
}

function versionText({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

function classValue(config: RuntimeConfig, key: string): boolean {
  const value = config.get(key);
  if (value !== 'true' && value !== 'false') throw new Error(`invalid value ${key}=${value}`);
  return value === 'true';
}

function preferenceOf([key, value]: readonly [string, string], registered: ReadonlyMap<string, ReadonlySet<string>>): Preference {
  const { group, version } = groupVersionOf(key);
  if (!registered.get(group)!.has(version)) {
    throw new Error(`group version ${versionText({ group, version })} that has not been registered`);
  }
  const isEnabled = preferenceValue(key, value);
  const resource = key.split('/')[2];
  if (resource !== undefined && resource !== resource.toLowerCase()) {
    throw new Error(`invalid key ${key}: group/version/resource and resource is always lowercase plural, not ${JSON.stringify(resource)}`);
  }
  return { group, version, resource, isEnabled };
}

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...['', '1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

function preferenceValue(key: string, value: string): boolean {
  const isEnabled = TRUTHS.get(value);
  if (isEnabled !== undefined) return isEnabled;
  throw new Error(`invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`);
}
