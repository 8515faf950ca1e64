import path from 'node:path';
import { AUDIT_MODES, LOG_FORMATS, parseAuditPolicy } from '#apiserver';
import type { ApiServerSettings, AuditBackendSettings, AuditLogSettings, AuditSettings, AuditWebhookSettings } from '#cluster';
import type { CliContext } from '../context.ts';
import { booleanValue, durationValue, type Flag, type FlagTable, fileText, numberValue, oneOf, wholeNumberValue } from './flag-table.ts';

type Read = (value: string, context: CliContext) => unknown;
interface FlagTexts {
  readonly value: string;
  readonly help: string;
}

const logFlag = (key: keyof AuditLogSettings, read: Read, words: FlagTexts): Flag<ApiServerSettings> => ({
  ...words,
  apply: (s, value, context) => withAudit(s, { log: { ...s.audit?.log, [key]: read(value, context) } }),
});

const webhookFlag = (key: keyof AuditWebhookSettings, read: Read, words: FlagTexts): Flag<ApiServerSettings> => ({
  ...words,
  apply: (s, value, context) => withAudit(s, { webhook: { ...s.audit?.webhook, [key]: read(value, context) } }),
});

/** Flags of both backends. */
const SHARED: readonly ({ readonly name: string; readonly key: keyof AuditBackendSettings; readonly read: Read } & FlagTexts)[] = [
  {
    name: 'mode',
    key: 'mode',
    read: (value) => oneOf(value, AUDIT_MODES),
    value: 'mode',
    help: `how events are sent: ${AUDIT_MODES.join(', ')}`,
  },
  { name: 'batch-buffer-size', key: 'batchBufferSize', read: wholeNumberValue, value: 'events', help: 'how many may wait in batch mode' },
  { name: 'batch-max-size', key: 'batchMaxSize', read: wholeNumberValue, value: 'events', help: 'the maximum batch size' },
  {
    name: 'batch-max-wait',
    key: 'batchMaxWaitMs',
    read: durationValue,
    value: 'duration',
    help: 'how long to wait before sending an incomplete batch',
  },
  { name: 'batch-throttle-enable', key: 'batchThrottleEnable', read: booleanValue, value: 'bool', help: 'whether batches are throttled' },
  { name: 'batch-throttle-qps', key: 'batchThrottleQps', read: numberValue, value: 'rate', help: 'batches a second, on average' },
  { name: 'batch-throttle-burst', key: 'batchThrottleBurst', read: wholeNumberValue, value: 'batches', help: 'batches at once' },
  { name: 'truncate-enabled', key: 'truncateEnabled', read: booleanValue, value: 'bool', help: 'whether large events lose their bodies' },
  {
    name: 'truncate-max-batch-size',
    key: 'truncateMaxBatchBytes',
    read: wholeNumberValue,
    value: 'bytes',
    help: 'larger batches are split',
  },
  {
    name: 'truncate-max-event-size',
    key: 'truncateMaxEventBytes',
    read: wholeNumberValue,
    value: 'bytes',
    help: 'larger events are truncated, and dropped if they are still too large',
  },
];

/** Audit flags, with upstream's names. */
export const AUDIT_FLAGS: FlagTable<ApiServerSettings> = {
  'audit-policy-file': {
    value: 'file',
    help: 'which requests are recorded: a Policy of audit.k8s.io/v1',
    apply: (s, value, context) => withAudit(s, { policy: parseAuditPolicy(fileText(value, context), value) }),
  },
  'audit-log-path': logFlag('path', (value, { cwd }) => (value === '-' ? value : path.resolve(cwd, value)), {
    value: 'file',
    help: 'the file that events are written to; - is standard output',
  }),
  'audit-log-maxage': logFlag('maxAgeDays', wholeNumberValue, { value: 'days', help: 'how long rotated files are kept (default 366)' }),
  'audit-log-maxbackup': logFlag('maxBackups', wholeNumberValue, { value: 'files', help: 'how many rotated files are kept (default 100)' }),
  'audit-log-maxsize': logFlag('maxSizeMegabytes', wholeNumberValue, {
    value: 'megabytes',
    help: 'the size from which the file is rotated; 0 for never (default 100)',
  }),
  'audit-log-format': logFlag('format', (value) => oneOf(value, LOG_FORMATS), { value: 'format', help: LOG_FORMATS.join(' or ') }),
  'audit-log-compress': logFlag('compress', booleanValue, { value: 'bool', help: 'whether rotated files are compressed' }),
  'audit-log-version': versionFlag(),
  'audit-webhook-config-file': webhookFlag('kubeconfig', kubeconfigFile, {
    value: 'file',
    help: 'a kubeconfig of where events are posted to',
  }),
  'audit-webhook-initial-backoff': webhookFlag('initialBackoffMs', durationValue, {
    value: 'duration',
    help: 'how long to wait before the first retry (default 10s)',
  }),
  'audit-webhook-batch-initial-backoff': webhookFlag('initialBackoffMs', durationValue, {
    value: 'duration',
    help: 'the older name of --audit-webhook-initial-backoff',
  }),
  'audit-webhook-version': versionFlag(),
  ...sharedFlags('log', logFlag),
  ...sharedFlags('webhook', webhookFlag),
};

function sharedFlags(
  backend: string,
  flag: (key: keyof AuditBackendSettings, read: Read, words: FlagTexts) => Flag<ApiServerSettings>,
): FlagTable<ApiServerSettings> {
  const entries = SHARED.map(({ name, key, read, value, help }) => [`audit-${backend}-${name}`, flag(key, read, { value, help })]);
  return Object.fromEntries(entries);
}

function versionFlag(): Flag<ApiServerSettings> {
  return {
    value: 'version',
    help: 'audit.k8s.io/v1, the only one there is',
    apply: (s, value) => {
      oneOf(value, ['audit.k8s.io/v1']);
      return s;
    },
  };
}

/** A kubeconfig with its path, since it may contain relative paths. */
export function kubeconfigFile(value: string, context: CliContext): { readonly path: string; readonly text: string } {
  return { path: path.resolve(context.cwd, value), text: fileText(value, context) };
}

function withAudit(settings: ApiServerSettings, audit: AuditSettings): ApiServerSettings {
  return { ...settings, audit: { ...settings.audit, ...audit } };
}
