import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { MetricsRegistry, silentLogger } from '#base';
import { type FaultSource, surviveFaults } from './survive-faults.ts';

test('unhandled errors are logged and counted until surviveFaults is disposed of', () => {
  const source = Object.assign(new EventEmitter(), { stderr: new EventEmitter() }) as unknown as FaultSource & EventEmitter;
  const metrics = new MetricsRegistry();
  const logged: object[] = [];
  const logger = { ...silentLogger, error: (_: string, fields: object = {}) => void logged.push(fields) };
  {
    using _guard = surviveFaults(source, { logger, metrics });
    source.emit('unhandledRejection', new Error('a'), Promise.resolve());
    source.emit('uncaughtException', new Error('b'));
  }
  expect(logged).toMatchObject([{ kind: 'rejection' }, { kind: 'exception' }]);
  expect(metrics.text()).toContain('sampan_unhandled_errors_total{kind="rejection"} 1');
  expect(source.listenerCount('uncaughtException')).toBe(0);
});

test('a log that cannot be written is counted, and not reported to the same log', () => {
  const stderr = new EventEmitter();
  const source = Object.assign(new EventEmitter(), { stderr }) as unknown as FaultSource;
  const metrics = new MetricsRegistry();
  using _guard = surviveFaults(source, { logger: silentLogger, metrics });
  for (let i = 0; i < 3; i++) stderr.emit('error', new Error('write ENOSPC'));
  expect(metrics.text()).toContain('sampan_log_write_errors_total 3');
});
