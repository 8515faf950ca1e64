import { isInRelease, type Kind, RELEASE } from '#api';
import type { FeatureGates, GateReleases } from '#machinery';
import { enablementOf, type RuntimeConfig } from './runtime-config.ts';

/** Objects stay readable for the previous release. */
export const NEWEST_RELEASE: GateReleases = { emulated: RELEASE, minCompatibility: '1.35' };

/** Kinds that are enabled, exist in the release, and whose feature gate is on. */
export function servedKinds(
  config: RuntimeConfig = new Map(),
  { emulated }: GateReleases,
  gates: Pick<FeatureGates, 'isEnabled'>,
): (kind: Kind<unknown>) => boolean {
  const isEnabled = enablementOf(config);
  return (kind) => isEnabled(kind) && isInRelease(kind, emulated) && (kind.featureGate === undefined || gates.isEnabled(kind.featureGate));
}
