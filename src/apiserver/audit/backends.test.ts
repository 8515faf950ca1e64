import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MetricsRegistry, silentLogger, VirtualClock } from '#base';
import type { AuditBackend } from './audit-backend.ts';
import type { AuditEvent } from './audit-event.ts';
import { AuditMetrics } from './audit-metrics.ts';
import { BufferedBackend } from './buffered-backend.ts';
import { legacyText } from './legacy-text.ts';
import { LogBackend } from './log-backend.ts';
import { LogFile, type LogFileConfig } from './log-file.ts';
import { TruncatingBackend } from './truncating-backend.ts';

function event(id: string, overrides: Partial<AuditEvent> = {}): AuditEvent {
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: id,
    stage: 'ResponseComplete',
    requestURI: '/api/v1/pods?limit=1',
    verb: 'list',
    user: { username: 'jane', groups: ['a', 'b'] },
    sourceIPs: ['192.0.2.1'],
    userAgent: 'curl',
    requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
    stageTimestamp: '2026-01-01T00:00:00.000000Z',
    ...overrides,
  };
}

/** Keeps received events; responds when told to, if it was blocked. */
class Recorder implements AuditBackend {
  readonly batches: (readonly string[])[] = [];
  events: AuditEvent[] = [];
  isClosed = false;
  process(events: readonly AuditEvent[]): boolean {
    this.batches.push(events.map(({ auditID }) => auditID));
    this.events.push(...events);
    return true;
  }
  async close(): Promise<void> {
    this.isClosed = true;
  }
}

const registry = () => {
  const metrics = new MetricsRegistry();
  return { metrics, audit: new AuditMetrics(metrics, silentLogger) };
};

describe('a buffered backend', () => {
  const config = { bufferSize: 5, maxBatchSize: 2, maxBatchWaitMs: 1000 };

  it('sends full batches at once and the rest after a while', async () => {
    const clock = new VirtualClock();
    const recorder = new Recorder();
    const backend = new BufferedBackend(recorder, config, { clock, metrics: registry().audit });
    backend.process([event('1'), event('2'), event('3')]);
    expect(recorder.batches).toEqual([['1', '2']]);
    await clock.advance(1000);
    expect(recorder.batches).toEqual([['1', '2'], ['3']]);
    await backend.close();
  });

  it('sends what it holds before it closes, and nothing after', async () => {
    const { metrics, audit } = registry();
    const recorder = new Recorder();
    const backend = new BufferedBackend(recorder, config, { clock: new VirtualClock(), metrics: audit });
    backend.process([event('1')]);
    await backend.close();
    expect([recorder.batches, recorder.isClosed]).toEqual([[['1']], true]);
    backend.process([event('2')]);
    expect(metrics.text()).toContain('apiserver_audit_error_total{plugin="buffered"} 1');
  });

  it('ends batches that are never answered by closing their receiver', async () => {
    let end = (_isSent: boolean) => {};
    const answer = new Promise<boolean>((resolve) => {
      end = resolve;
    });
    const receiver: AuditBackend = { process: () => answer, close: async () => end(false) };
    const backend = new BufferedBackend(receiver, config, { clock: new VirtualClock(), metrics: registry().audit });
    backend.process([event('1'), event('2'), event('3')]);
    await backend.close();
    expect(await answer).toBe(false);
  });

  it('drops what its buffer has no room for, and counts it', async () => {
    const { metrics, audit } = registry();
    const backend = new BufferedBackend(new Recorder(), { ...config, maxBatchSize: 100 }, { clock: new VirtualClock(), metrics: audit });
    backend.process(['1', '2', '3', '4', '5', '6', '7'].map((id) => event(id)));
    expect(metrics.text()).toContain('apiserver_audit_error_total{plugin="buffered"} 2');
    await backend.close();
  });

  it('is throttled', async () => {
    const clock = new VirtualClock();
    const recorder = new Recorder();
    const throttle = { perSecond: 1, burst: 1 };
    const backend = new BufferedBackend(recorder, { ...config, maxBatchSize: 1, throttle }, { clock, metrics: registry().audit });
    backend.process([event('1'), event('2')]);
    expect(recorder.batches).toEqual([['1']]);
    await clock.advance(1000);
    expect(recorder.batches).toEqual([['1'], ['2']]);
    await backend.close();
  });
});

describe('a truncating backend', () => {
  const bodies = { level: 'RequestResponse', requestObject: { a: 'x'.repeat(2000) }, responseObject: { b: 1 } } as const;

  it('drops bodies that are too large, and events that are so without them', () => {
    const { metrics, audit } = registry();
    const recorder = new Recorder();
    const backend = new TruncatingBackend(recorder, { maxEventBytes: 1000, maxBatchBytes: 10_000 }, audit);
    backend.process([event('1', bodies), event('2', { userAgent: 'x'.repeat(2000) }), event('3')]);
    expect(recorder.batches).toEqual([['1', '3']]);
    const [truncated] = recorder.events;
    expect([truncated?.requestObject, truncated?.responseObject, truncated?.annotations]).toEqual([
      undefined,
      undefined,
      { 'audit.k8s.io/truncated': 'true' },
    ]);
    expect(metrics.text()).toContain('apiserver_audit_error_total{plugin="truncate"} 1');
  });

  it('splits batches', () => {
    const recorder = new Recorder();
    const backend = new TruncatingBackend(recorder, { maxEventBytes: 1000, maxBatchBytes: 1000 }, registry().audit);
    backend.process([event('1'), event('2'), event('3')]);
    expect(recorder.batches).toEqual([['1', '2'], ['3']]);
  });
});

describe('a log file', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-audit-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const clock = new VirtualClock({ startMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678) });
  const open = (config: Partial<LogFileConfig> = {}) =>
    new LogFile(
      { path: path.join(directory, 'audit.log'), maxBytes: 10, maxAgeMs: 0, maxBackups: 0, compress: false, ...config },
      { clock, logger: silentLogger },
    );
  const names = () => readdirSync(directory).sort();
  const text = (name: string) => readFileSync(path.join(directory, name), 'utf8');

  it('is moved aside when it is full, under the time', async () => {
    const file = open();
    file.write('12345678\n');
    file.write('abcdefgh\n');
    await file.close();
    expect(names()).toEqual(['audit-2026-01-02T03-04-05.678.log', 'audit.log']);
    expect([text('audit-2026-01-02T03-04-05.678.log'), text('audit.log')]).toEqual(['12345678\n', 'abcdefgh\n']);
  });

  it('loses nothing when it is full twice within a millisecond', async () => {
    const file = open();
    for (const line of ['12345678\n', 'abcdefgh\n', 'ABCDEFGH\n']) file.write(line);
    await file.close();
    expect(names().map(text)).toEqual(['12345678\n', 'abcdefgh\n', 'ABCDEFGH\n']);
  });

  it('goes on where another process stopped', async () => {
    writeFileSync(path.join(directory, 'audit.log'), '12345678\n');
    const file = open();
    file.write('ab\n');
    await file.close();
    expect(text('audit.log')).toBe('ab\n');
  });

  it('compresses rotated files and removes those that are too many or too old', async () => {
    for (const name of ['audit-2025-01-01T00-00-00.000.log', 'audit-2026-01-01T00-00-00.000.log', 'other-2020.log'])
      writeFileSync(path.join(directory, name), 'old\n');
    const file = open({ compress: true, maxBackups: 2, maxAgeMs: 30 * 24 * 3600_000 });
    file.write('12345678\n');
    file.write('abcdefgh\n');
    await file.close();
    expect(names()).toEqual([
      'audit-2026-01-01T00-00-00.000.log.gz',
      'audit-2026-01-02T03-04-05.678.log.gz',
      'audit.log',
      'other-2020.log',
    ]);
    expect(gunzipSync(readFileSync(path.join(directory, 'audit-2026-01-02T03-04-05.678.log.gz'))).toString()).toBe('12345678\n');
  });

  it('takes one line of JSON for each event, and all of them before it closes', async () => {
    const backend = new LogBackend(open({ maxBytes: 0 }), { format: 'json', writesTogether: true }, registry().audit);
    backend.process([event('1'), event('2')]);
    await backend.close();
    const lines = text('audit.log').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as AuditEvent).auditID)).toEqual(['1', '2']);
  });

  it('that cannot be written is an error that is counted, and known to strict callers', async () => {
    const { metrics, audit } = registry();
    const file = open();
    await file.close();
    const backend = new LogBackend(file, { format: 'json', writesTogether: false }, audit);
    expect(backend.process([event('1')])).toBe(false);
    expect(metrics.text()).toContain('apiserver_audit_error_total{plugin="log"} 1');
  });
});

it('an event in the legacy format is the same line as upstream', () => {
  const text = legacyText(event('id', { responseStatus: { metadata: {}, code: 200 }, objectRef: { resource: 'pods', apiVersion: 'v1' } }));
  expect(text).toBe(
    '2026-01-01T00:00:00.000000Z AUDIT: id="id" stage="ResponseComplete" ip="192.0.2.1" method="list" user="jane" groups="\\"a\\",\\"b\\"" ' +
      'as="<self>" asgroups="<lookup>" user-agent="curl" namespace="<none>" uri="/api/v1/pods?limit=1" response="200"',
  );
});
