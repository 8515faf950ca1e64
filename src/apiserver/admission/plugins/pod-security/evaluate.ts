import { BASELINE_CHECKS } from './baseline-checks.ts';
import type { CheckedPod, PodCheck, SecurityCheck, Violation } from './pod-check.ts';
import { RESTRICTED_CHECKS } from './restricted-checks.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

/** A level of the pod security standards in a version: `latest` or `v1.x`. */
export interface Standard {
  readonly level: Level;
  readonly version: string;
}

export function standardText({ level, version }: Standard): string {
  return `${level}:${version}`;
}

/** All violations of the standard. */
export function violationsOf(pod: CheckedPod, { level, version }: Standard): readonly Violation[] {
  if (level === 'privileged') return [];
  const minor = version === 'latest' ? Number.POSITIVE_INFINITY : Number(version.slice('v1.'.length));
  return checksOf(level, minor).flatMap((check) => check(pod) ?? []);
}

function checksOf(level: Level, minor: number): readonly PodCheck[] {
  const restricted = level === 'restricted' ? RESTRICTED_CHECKS.filter(({ versions }) => versions[0]!.since <= minor) : [];
  const overridden = new Set(restricted.map(({ overrides }) => overrides));
  return [...BASELINE_CHECKS.filter(({ id }) => !overridden.has(id)), ...restricted].flatMap((check) => inVersion(check, minor) ?? []);
}

function inVersion({ versions }: SecurityCheck, minor: number): PodCheck | undefined {
  return versions.findLast(({ since }) => since <= minor)?.check;
}

/** Each reason with its detail. */
export function violationsText(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
}

export function reasonsText(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ');
}
