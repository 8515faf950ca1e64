import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { MetricsRegistry, silentLogger } from '#base';
import { surviveFaults } from './survive-faults.ts';

test('errors that nobody handled are logged and counted, until it is disposed of', () => {
  const source = new EventEmitter() as unknown as NodeJS.Process;
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
