import { NEWEST_RELEASE } from '#apiserver';
import type { ApiServerSettings } from '#cluster';
import { FeatureGates, type GateReleases, type GateSettings, parseFeatureGates } from '#machinery';
import { type Flag, type FlagTable, listValue } from './flag-table.ts';

/** Feature gates with an effect here; the others are accepted without one. */
const EFFECTIVE_GATES: ReadonlySet<string> = new Set([
  'AllAlpha',
  'AllBeta',
  'ClusterTrustBundle',
  'ClusterTrustBundleProjection',
  'ExtendWebSocketsToKubelet',
  'GenericWorkload',
  'PodCertificateRequest',
  'StorageVersionMigrator',
]);
/** The binary version, and the minimum compatibility version. */
const BINARY = '1.36.4';
const OLDEST = '1.33';

/** Emulated version and feature gates of the API server. */
export const RELEASE_FLAGS: FlagTable<ApiServerSettings> = {
  // Versions first: the valid gates depend on them.
  'emulated-version': {
    value: 'version',
    help: `the release whose API and feature gates to have, from ${OLDEST} on`,
    repeatable: true,
    apply: (s, value) => {
      const emulated = releaseOf(value);
      const isOutside = minorOf(emulated) < minorOf(OLDEST) || minorOf(emulated) > minorOf(BINARY);
      if (isOutside) throw new Error(`emulation version ${emulated} is not between [${OLDEST}, ${BINARY}]`);
      return { ...s, emulation: { emulated, minCompatibility: `1.${minorOf(emulated) - 1}` } };
    },
  },
  'min-compatibility-version': {
    value: 'version',
    help: 'the oldest release of other API servers on the same store',
    repeatable: true,
    apply: (s, value) => {
      const minCompatibility = releaseOf(value);
      const { emulated } = s.emulation ?? NEWEST_RELEASE;
      const isOutside = minorOf(minCompatibility) < minorOf(OLDEST) || minorOf(minCompatibility) > minorOf(emulated);
      if (isOutside) throw new Error(`minCompatibilityVersion version ${minCompatibility} is not between [${OLDEST}, ${emulated}]`);
      return { ...s, emulation: { emulated, minCompatibility } };
    },
  },
  'feature-gates': {
    value: 'name=bool',
    help: `features that are on or off, other than by default; of effect here: ${[...EFFECTIVE_GATES].join(', ')}`,
    repeatable: true,
    apply: (s, value, context) => {
      const changes = parseFeatureGates(value);
      const featureGates = new Map([...(s.featureGates ?? []), ...changes]);
      checkGates(featureGates, s.emulation);
      const ineffective = [...changes.keys()].filter((name) => !EFFECTIVE_GATES.has(name));
      if (ineffective.length > 0) context.note(`--feature-gates: of no effect here: ${ineffective.join(', ')}`);
      return { ...s, featureGates };
    },
  },
};

function checkGates(settings: GateSettings, releases: GateReleases = NEWEST_RELEASE): void {
  new FeatureGates(settings, releases);
}

/** `1.35` from `1.35`, `v1.35.0` or `kube=1.35`. */
function releaseOf(value: string): string {
  const releases = listValue(value).map(componentRelease);
  const [release, again] = releases;
  if (release === undefined) throw new Error('a version is needed');
  if (again !== undefined) throw new Error(`duplicate version flag, kube=${release} and kube=${again}`);
  return release;
}

function componentRelease(text: string): string {
  const at = text.indexOf('=');
  const component = at < 0 ? 'kube' : text.slice(0, at).trim();
  const version = text.slice(at + 1).trim();
  if (component !== 'kube') throw new Error(`component not registered: ${component}`);
  const [, major, minor, patch = '0'] = /^v?(\d+)\.(\d+)(?:\.(\d+))?$/.exec(version) ?? [];
  if (minor === undefined) throw new Error(`could not parse ${JSON.stringify(version)} as version`);
  if (Number(patch) !== 0) throw new Error(`patch version not allowed, got: kube=${version}`);
  return `${major}.${minor}`;
}

function minorOf(release: string): number {
  return Number(release.split('.')[1]);
}

/** The same flags of other components: only validated. */
export function releaseFlagsWithoutEffect<S>(): FlagTable<S> {
  const noEffect = 'this component has the features of v1.36 as they are by default';
  const checked = (name: string): Flag<S> => ({
    ...{ value: 'list', repeatable: true, noEffect, help: `no effect: ${noEffect}` },
    apply: (settings, value, context) => {
      RELEASE_FLAGS[name]!.apply({}, value, { ...context, note: () => {} });
      return settings;
    },
  });
  return Object.fromEntries(Object.keys(RELEASE_FLAGS).map((name) => [name, checked(name)]));
}
