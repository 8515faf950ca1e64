import type { ConfigurationReader, Fields } from '#machinery';

/** Process settings: leader election, client connection, health and metrics. */
export interface ProcessSettings {
  readonly leaderElection: LeaderElectionSettings;
  readonly clientConnection: ClientConnectionSettings;
  /** Candidates that do not lead keep no copy of the cluster: less memory, but a slower take-over. */
  readonly delayCacheUntilActive: boolean;
  /** Settings without effect, each as a sentence. */
  readonly withoutEffect: readonly string[];
}

export interface LeaderElectionSettings {
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

export interface ClientConnectionSettings {
  /** The path of a kubeconfig. */
  readonly kubeconfig?: string;
  /** Client-side rate limit. Absent: unlimited. */
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number };
}

export function readProcessSettings(fields: Fields, reader: ConfigurationReader): ProcessSettings {
  const clientConnection = reader.object(fields.clientConnection, 'clientConnection');
  return {
    leaderElection: leaderElection(fields.leaderElection, reader),
    clientConnection: connectionSettings(clientConnection, reader),
    delayCacheUntilActive: reader.boolean(fields.delayCacheUntilActive, 'delayCacheUntilActive', false),
    withoutEffect: [...threadSettings(fields, reader), ...profilingSettings(fields, reader), ...contentTypes(clientConnection, reader)],
  };
}

/** Settings of the configuration that only a scheduler in its own process has. */
export function standaloneSettings(configuration: unknown): readonly string[] {
  const fields = (configuration ?? {}) as Fields;
  return ['clientConnection', 'leaderElection', 'delayCacheUntilActive'].filter((name) => fields[name] !== undefined);
}

function leaderElection(value: unknown, reader: ConfigurationReader): LeaderElectionSettings {
  const path = 'leaderElection';
  const fields = reader.object(value, path);
  reader.rejectUnknownFields(
    fields,
    ['leaderElect', 'leaseDuration', 'renewDeadline', 'retryPeriod', 'resourceLock', 'resourceName', 'resourceNamespace'],
    path,
  );
  reader.oneOf(fields.resourceLock, `${path}.resourceLock`, ['leases']);
  const settings = {
    leaderElect: reader.boolean(fields.leaderElect, `${path}.leaderElect`, true),
    leaseDurationMs: reader.duration(fields.leaseDuration, `${path}.leaseDuration`, 15_000),
    renewDeadlineMs: reader.duration(fields.renewDeadline, `${path}.renewDeadline`, 10_000),
    retryPeriodMs: reader.duration(fields.retryPeriod, `${path}.retryPeriod`, 2_000),
    resourceName: reader.text(fields.resourceName, `${path}.resourceName`, 'kube-scheduler'),
    resourceNamespace: reader.text(fields.resourceNamespace, `${path}.resourceNamespace`, 'kube-system'),
  };
  if (settings.leaderElect) checkLeaderElectionTimes(settings, reader);
  return settings;
}

function checkLeaderElectionTimes(
  { leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaderElectionSettings,
  reader: ConfigurationReader,
): void {
  const times = { leaseDuration: leaseDurationMs, renewDeadline: renewDeadlineMs, retryPeriod: retryPeriodMs };
  for (const [name, ms] of Object.entries(times)) if (ms <= 0) reader.fail(`leaderElection.${name}`, 'must be greater than zero');
  if (leaseDurationMs <= renewDeadlineMs) reader.fail('leaderElection.leaseDuration', 'LeaseDuration must be greater than RenewDeadline');
}

/** As client-go reads them: 0 is the default, a negative rate is unlimited. */
function connectionSettings(fields: Fields, reader: ConfigurationReader): ClientConnectionSettings {
  const path = 'clientConnection';
  reader.rejectUnknownFields(fields, ['kubeconfig', 'acceptContentTypes', 'contentType', 'qps', 'burst'], path);
  const kubeconfig = reader.text(fields.kubeconfig, `${path}.kubeconfig`, '');
  const qps = reader.rate(fields.qps, `${path}.qps`, 0);
  const burst = reader.number(fields.burst, `${path}.burst`, { fallback: 0, min: 0 });
  if (burst > 0 && qps <= 0) reader.fail(`${path}.burst`, 'goes with qps, which is not set');
  return {
    ...(kubeconfig !== '' && { kubeconfig }),
    ...(qps > 0 && { rateLimit: { perSecond: qps, burst: burst || Math.max(1, Math.ceil(qps * 2)) } }),
  };
}

function threadSettings({ parallelism }: Fields, reader: ConfigurationReader): readonly string[] {
  reader.number(parallelism, 'parallelism', { fallback: 16, min: 1 });
  return parallelism === undefined || parallelism === null ? [] : ['parallelism: one thread looks at all nodes'];
}

function profilingSettings(fields: Fields, reader: ConfigurationReader): readonly string[] {
  return ['enableProfiling', 'enableContentionProfiling'].flatMap((name) =>
    reader.boolean(fields[name], name, false)
      ? [`${name}: profiles are not served; run the scheduler with node --cpu-prof or --inspect`]
      : [],
  );
}

const JSON_TYPE = /^application\/json\b/;

function contentTypes(fields: Fields, reader: ConfigurationReader): readonly string[] {
  return ['contentType', 'acceptContentTypes'].flatMap((name) => {
    const type = reader.text(fields[name], `clientConnection.${name}`, '');
    return type === '' || JSON_TYPE.test(type) ? [] : [`clientConnection.${name}: the scheduler's client speaks application/json`];
  });
}
