import { expect, test } from 'vitest';
import { VirtualClock } from '#base';
import { DeviceHealth } from './device-health.ts';

const report = (deviceName: string, health: 'HEALTHY' | 'UNHEALTHY', seconds = 0) => ({
  ...{ device: { poolName: 'p', deviceName }, health, lastUpdatedTime: 0, healthCheckTimeoutSeconds: seconds, message: 'm'.repeat(2000) },
});
const device = (name: string) => ({ driver: 'd', pool: 'p', device: name });

test('device health expires after its timeout, and listeners are notified', async () => {
  const clock = new VirtualClock();
  let changes = 0;
  using health = new DeviceHealth(clock, () => void changes++);
  expect(health.of(device('a')).health).toBe('Unknown');
  health.update('d', [report('a', 'HEALTHY'), report('b', 'UNHEALTHY', 100)]);
  expect([health.of(device('a')).health, health.of(device('b')).health, changes]).toEqual(['Healthy', 'Unhealthy', 1]);
  expect(health.of(device('a')).message).toHaveLength(1024);
  await clock.advance(31_000);
  expect([health.of(device('a')).health, health.of(device('b')).health, changes]).toEqual(['Unknown', 'Unhealthy', 2]);
  health.forget('d');
  expect([health.of(device('b')).health, changes]).toEqual(['Unknown', 3]);
});
