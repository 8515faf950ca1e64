import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Random } from '#base';
import type { LeaderElectionConfig } from '#client';
import { booleanValue, durationValue, flagValue } from './flags/flag-table.ts';

/** Leader election flags, as given. */
export interface LeaderFlags {
  /** True: given without a value. */
  readonly leaderElect?: string | true;
  readonly leaderElectLeaseDuration?: string;
  readonly leaderElectRenewDeadline?: string;
  readonly leaderElectRetryPeriod?: string;
  readonly leaderElectResourceName?: string;
  readonly leaderElectResourceNamespace?: string;
}

/** Defaults of the flags. */
export interface LeaderDefaults {
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

export function leaderDefaults(resourceName: string): LeaderDefaults {
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
  return { leaderElect: true, ...times, resourceName, resourceNamespace: 'kube-system' };
}

export function addLeaderFlags(command: Command): Command {
  return command
    .option('--leader-elect [bool]', 'whether to wait until no other instance leads (default: true)')
    .option('--leader-elect-lease-duration <duration>', 'how long others wait for a silent leader (default: 15s)')
    .option('--leader-elect-renew-deadline <duration>', 'how long the leader tries to renew before it gives up (default: 10s)')
    .option('--leader-elect-retry-period <duration>', 'the time between two tries (default: 2s)')
    .option('--leader-elect-resource-name <name>', 'the lease that instances compete for')
    .option('--leader-elect-resource-namespace <namespace>', 'where that lease is (default: kube-system)');
}

/** Undefined when leader election is disabled. */
export function leaderElectionOf(flags: LeaderFlags, defaults: LeaderDefaults, random: Random): LeaderElectionConfig | undefined {
  const { leaderElect } = flags;
  if (!(leaderElect === undefined ? defaults.leaderElect : flagValue('leader-elect', String(leaderElect), booleanValue))) return undefined;
  const duration = (name: string, text: string | undefined, fallbackMs: number) =>
    text === undefined ? fallbackMs : flagValue(`leader-elect-${name}`, text, durationValue);
  return {
    lease: {
      namespace: flags.leaderElectResourceNamespace ?? defaults.resourceNamespace,
      name: flags.leaderElectResourceName ?? defaults.resourceName,
    },
    identity: `${hostname()}_${random.uuid()}`,
    leaseDurationMs: duration('lease-duration', flags.leaderElectLeaseDuration, defaults.leaseDurationMs),
    renewDeadlineMs: duration('renew-deadline', flags.leaderElectRenewDeadline, defaults.renewDeadlineMs),
    retryPeriodMs: duration('retry-period', flags.leaderElectRetryPeriod, defaults.retryPeriodMs),
    releaseOnStop: true,
  };
}
