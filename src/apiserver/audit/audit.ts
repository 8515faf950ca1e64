import type { Clock, Logger, MetricsRegistry, Random } from '#base';
import type { EgressSelector } from '../egress/egress-selector.ts';
import { type KubeconfigFile, KubeconfigWebhook } from '../webhook-client/kubeconfig-webhook.ts';
import { type AuditBackend, ignoringErrors, unionBackend } from './audit-backend.ts';
import { AuditMetrics } from './audit-metrics.ts';
import type { AuditPolicy } from './audit-policy.ts';
import { type BatchConfig, BufferedBackend } from './buffered-backend.ts';
import { EventUsers } from './event-users.ts';
import { LogBackend, type LogFormat } from './log-backend.ts';
import { LogFile, type LogFileConfig } from './log-file.ts';
import { PolicyEvaluator } from './policy-evaluator.ts';
import { type TruncateConfig, TruncatingBackend } from './truncating-backend.ts';
import { WebhookBackend } from './webhook-backend.ts';

/** `blocking` waits until an event is recorded, `blocking-strict` also fails requests whose RequestReceived event cannot be recorded. */
export const AUDIT_MODES = ['batch', 'blocking', 'blocking-strict'] as const;
export type AuditMode = (typeof AUDIT_MODES)[number];

export interface BackendConfig {
  readonly mode: AuditMode;
  readonly batch: BatchConfig;
  readonly truncate?: TruncateConfig;
}

export interface AuditLogConfig extends BackendConfig {
  readonly file: LogFileConfig;
  readonly format: LogFormat;
}

export interface AuditWebhookConfig extends BackendConfig {
  readonly kubeconfig: KubeconfigFile;
  readonly initialBackoffMs: number;
}

export interface AuditConfig {
  readonly policy: AuditPolicy;
  readonly log?: AuditLogConfig;
  readonly webhook?: AuditWebhookConfig;
}

export interface AuditDeps {
  /** The cluster's clock, for event timestamps. */
  readonly clock: Clock;
  /** Real time, for files and webhooks. */
  readonly realClock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly egress?: EgressSelector | undefined;
}

/** The audit configuration of the filter. */
export interface Audit {
  readonly policy: PolicyEvaluator;
  readonly backend: AuditBackend;
  readonly metrics: AuditMetrics;
  readonly clock: Clock;
  readonly users: EventUsers;
}

/** Undefined without a backend. Throws when the log file cannot be opened. */
export function openAudit(config: AuditConfig | undefined, deps: AuditDeps): Audit | undefined {
  if (config === undefined || (config.log === undefined && config.webhook === undefined)) return undefined;
  for (const field of config.policy.unknownFields)
    deps.logger.warn('the audit policy has a field that no policy has; it is ignored', { field });
  const metrics = new AuditMetrics(deps.metrics, deps.logger);
  const own = { ...deps, metrics };
  const backends = [config.log && logBackend(config.log, own), config.webhook && webhookBackend(config.webhook, own)];
  const backend = unionBackend(backends.filter((candidate) => candidate !== undefined));
  return { policy: new PolicyEvaluator(config.policy), backend, metrics, clock: deps.clock, users: new EventUsers() };
}

type BackendDeps = Omit<AuditDeps, 'metrics'> & { readonly metrics: AuditMetrics };

function logBackend(config: AuditLogConfig, deps: BackendDeps): AuditBackend {
  const file = new LogFile(config.file, { clock: deps.realClock, logger: deps.logger });
  const backend = new LogBackend(file, { format: config.format, writesTogether: config.mode === 'blocking' }, deps.metrics);
  return wrapped(backend, config, deps);
}

function webhookBackend(config: AuditWebhookConfig, deps: BackendDeps): AuditBackend {
  const { realClock: clock, random, logger, metrics, egress } = deps;
  const webhook = new KubeconfigWebhook(config.kubeconfig, { clock, logger, dial: egress?.controlplane });
  return wrapped(new WebhookBackend(config.initialBackoffMs, { webhook, clock, random, metrics }), config, deps);
}

function wrapped(backend: AuditBackend, { mode, batch, truncate }: BackendConfig, deps: BackendDeps): AuditBackend {
  const { metrics, realClock: clock } = deps;
  const fitting = truncate === undefined ? backend : new TruncatingBackend(backend, truncate, metrics);
  if (mode === 'blocking-strict') return fitting;
  return mode === 'blocking' ? ignoringErrors(fitting) : new BufferedBackend(fitting, batch, { clock, metrics });
}
