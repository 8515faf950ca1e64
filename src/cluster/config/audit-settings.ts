import {
  AUDIT_MODES,
  type AuditConfig,
  type AuditLogConfig,
  type AuditMode,
  type AuditPolicy,
  type AuditWebhookConfig,
  LOG_FORMATS,
  type LogFormat,
} from '#apiserver';

/** Audit settings from flags; unset ones have upstream's defaults. */
export interface AuditSettings {
  readonly policy?: AuditPolicy;
  readonly log?: AuditLogSettings;
  readonly webhook?: AuditWebhookSettings;
}

export interface AuditBackendSettings {
  readonly mode?: string;
  readonly batchBufferSize?: number;
  readonly batchMaxSize?: number;
  readonly batchMaxWaitMs?: number;
  readonly batchThrottleEnable?: boolean;
  readonly batchThrottleQps?: number;
  readonly batchThrottleBurst?: number;
  readonly truncateEnabled?: boolean;
  readonly truncateMaxBatchBytes?: number;
  readonly truncateMaxEventBytes?: number;
}

export interface AuditLogSettings extends AuditBackendSettings {
  readonly path?: string;
  readonly maxAgeDays?: number;
  readonly maxBackups?: number;
  readonly maxSizeMegabytes?: number;
  readonly format?: string;
  readonly compress?: boolean;
}

export interface AuditWebhookSettings extends AuditBackendSettings {
  readonly kubeconfig?: AuditWebhookConfig['kubeconfig'];
  readonly initialBackoffMs?: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MEGABYTE = 1024 * 1024;
const DEFAULT_BUFFER_SIZE = 10_000;

/** Undefined without a policy or a backend. Throws on invalid settings. */
export function auditConfig({ policy, log = {}, webhook = {} }: AuditSettings): AuditConfig | undefined {
  const logConfig = log.path ? auditLog(log, log.path) : undefined;
  const webhookConfig = webhook.kubeconfig ? auditWebhook(webhook, webhook.kubeconfig) : undefined;
  if (policy === undefined || (logConfig === undefined && webhookConfig === undefined)) return undefined;
  return { policy, ...(logConfig && { log: logConfig }), ...(webhookConfig && { webhook: webhookConfig }) };
}

/** Why nothing is recorded although a backend is configured. */
export function auditWarning({ policy, log, webhook }: AuditSettings): string | undefined {
  const hasPlace = log?.path !== undefined || webhook?.kubeconfig !== undefined;
  return hasPlace && policy === undefined
    ? 'no audit policy file is given, so that no events are recorded; give one with --audit-policy-file'
    : undefined;
}

function auditLog(settings: AuditLogSettings, path: string): AuditLogConfig {
  const { maxAgeDays = 366, maxBackups = 100, maxSizeMegabytes = 100, format = 'json', compress = false } = settings;
  if (!(LOG_FORMATS as readonly string[]).includes(format))
    throw new Error(`invalid audit log format ${format}, allowed formats are "${LOG_FORMATS.join(',')}"`);
  return {
    ...backend('log', settings, { mode: 'blocking', batchMaxSize: 1, throttled: false }),
    file: { path, maxBytes: maxSizeMegabytes * MEGABYTE, maxAgeMs: maxAgeDays * DAY_MS, maxBackups, compress },
    format: format as LogFormat,
  };
}

function auditWebhook(settings: AuditWebhookSettings, kubeconfig: AuditWebhookConfig['kubeconfig']): AuditWebhookConfig {
  const { initialBackoffMs = 10_000 } = settings;
  return { ...backend('webhook', settings, { mode: 'batch', batchMaxSize: 400, throttled: true }), kubeconfig, initialBackoffMs };
}

interface BackendDefaults {
  readonly mode: AuditMode;
  readonly batchMaxSize: number;
  readonly throttled: boolean;
}

function backend(name: string, settings: AuditBackendSettings, defaults: BackendDefaults) {
  const { mode = defaults.mode, batchThrottleEnable = defaults.throttled, truncateEnabled = false } = settings;
  if (!(AUDIT_MODES as readonly string[]).includes(mode))
    throw new Error(`invalid audit ${name} mode ${mode}, allowed modes are "${AUDIT_MODES.join(',')}"`);
  const batch = {
    bufferSize: settings.batchBufferSize ?? DEFAULT_BUFFER_SIZE,
    maxBatchSize: settings.batchMaxSize ?? defaults.batchMaxSize,
    maxBatchWaitMs: settings.batchMaxWaitMs ?? 30_000,
    ...(batchThrottleEnable && {
      throttle: { perSecond: settings.batchThrottleQps ?? 10, burst: settings.batchThrottleBurst ?? 15 },
    }),
  };
  if (mode === 'batch') {
    demandPositive(`batch ${name} buffer size`, batch.bufferSize);
    demandPositive(`batch ${name} max batch size`, batch.maxBatchSize);
    demandPositive(`batch ${name} throttle QPS`, batch.throttle?.perSecond ?? 1);
    demandPositive(`batch ${name} throttle burst`, batch.throttle?.burst ?? 1);
  }
  const truncate = truncation(name, settings);
  return { mode: mode as AuditMode, batch, ...(truncateEnabled && { truncate }) };
}

function truncation(name: string, settings: AuditBackendSettings) {
  const { truncateMaxBatchBytes: maxBatchBytes = 10 * MEGABYTE, truncateMaxEventBytes: maxEventBytes = 100 * 1024 } = settings;
  demandPositive(`truncate ${name} max event size`, maxEventBytes);
  if (maxBatchBytes < maxEventBytes)
    throw new Error(
      `invalid audit truncate ${name} max batch size ${maxBatchBytes}, must be greater than max event size (${maxEventBytes})`,
    );
  return { maxBatchBytes, maxEventBytes };
}

function demandPositive(setting: string, value: number): void {
  if (!(value > 0)) throw new Error(`invalid audit ${setting} ${value}, must be a positive number`);
}
