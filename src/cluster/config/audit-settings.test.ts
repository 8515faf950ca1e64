import { expect, it, test } from 'vitest';
import { parseAuditPolicy } from '#apiserver';
import { type AuditSettings, auditConfig, auditWarning } from './audit-settings.ts';

const policy = parseAuditPolicy('{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None}]}', 'policy');
const kubeconfig = { path: 'k', text: '' };

it("the audit log has upstream's defaults", () => {
  expect(auditConfig({ policy, log: { path: '/a' }, webhook: { kubeconfig } })).toEqual({
    policy,
    log: {
      mode: 'blocking',
      batch: { bufferSize: 10_000, maxBatchSize: 1, maxBatchWaitMs: 30_000 },
      format: 'json',
      file: { path: '/a', maxBytes: 100 * 1024 * 1024, maxAgeMs: 366 * 24 * 3_600_000, maxBackups: 100, compress: false },
    },
    webhook: {
      mode: 'batch',
      batch: { bufferSize: 10_000, maxBatchSize: 400, maxBatchWaitMs: 30_000, throttle: { perSecond: 10, burst: 15 } },
      kubeconfig,
      initialBackoffMs: 10_000,
    },
  });
});

it('nothing is audited without a policy or a backend, and a backend without a policy draws a warning', () => {
  expect(auditConfig({ policy })).toBeUndefined();
  expect(auditWarning({ policy, log: { path: '/a' } })).toBeUndefined();
  expect(auditConfig({ log: { path: '/a' } })).toBeUndefined();
  expect(auditWarning({ log: { path: '/a' } })).toContain('--audit-policy-file');
});

test.each<[string, AuditSettings['log']]>([
  ['invalid audit batch log buffer size 0, must be a positive number', { mode: 'batch', batchBufferSize: 0 }],
  ['invalid audit batch log max batch size 0, must be a positive number', { mode: 'batch', batchMaxSize: 0 }],
  ['invalid audit batch log throttle QPS 0, must be a positive number', { mode: 'batch', batchThrottleEnable: true, batchThrottleQps: 0 }],
  ['invalid audit truncate log max event size 0, must be a positive number', { truncateMaxEventBytes: 0 }],
  [
    'invalid audit truncate log max batch size 1, must be greater than max event size (2)',
    { truncateMaxEventBytes: 2, truncateMaxBatchBytes: 1 },
  ],
])('audit settings are rejected: %s', (message, log) => {
  expect(() => auditConfig({ policy, log: { path: '/a', ...log } })).toThrow(message);
});
