import { describe, expect, test } from 'vitest';
import { deviceTaintRuleBehaviour } from './device-taint-rule.behaviour.ts';
import type { DeviceTaintRule } from './device-taint-rule.ts';
import { resourcePoolStatusRequestBehaviour } from './resource-pool-status-request.behaviour.ts';
import type { ResourcePoolStatusRequest } from './resource-pool-status-request.ts';

const rules = deviceTaintRuleBehaviour as Required<typeof deviceTaintRuleBehaviour>;
const requests = resourcePoolStatusRequestBehaviour as Required<typeof resourcePoolStatusRequestBehaviour>;

describe('a taint rule for devices', () => {
  const rule = (taint: Partial<DeviceTaintRule['spec']['taint']>, deviceSelector = {}): DeviceTaintRule => ({
    metadata: { name: 'broken' },
    spec: { taint: { key: 'example.com/broken', effect: 'NoExecute', ...taint }, deviceSelector },
  });

  test.each<[DeviceTaintRule, readonly string[]]>([
    [rule({}, { driver: 'gpu.example.com', pool: 'a/b', device: 'gpu-0' }), []],
    [rule({ effect: '' }), ['spec.taint.effect: Required value']],
    [rule({ effect: 'Never' }), ['spec.taint.effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"']],
    [rule({}, { pool: '' }), ['spec.deviceSelector.pool: Required value']],
  ])('%j', (object, errors) => {
    expect(rules.validate(object).map(String)).toEqual(errors);
  });

  test('keeps an effect that is not known any more', () => {
    expect(rules.validateUpdate(rule({ effect: 'Old' }), rule({ effect: 'Old' }))).toEqual([]);
  });
});

describe('a question about pools', () => {
  const request = (spec: Partial<ResourcePoolStatusRequest['spec']>, status?: ResourcePoolStatusRequest['status']) =>
    requests.defaults({ metadata: { name: 'q' }, spec: { driver: 'gpu.example.com', ...spec }, ...(status && { status }) });
  const pool = { driver: 'gpu.example.com', poolName: 'p', generation: 1, totalDevices: 4, allocatedDevices: 1, availableDevices: 3 };
  const complete = { type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'Done', message: '' };

  test('asks for 100 pools unless told otherwise', () => {
    expect(request({}).spec?.limit).toBe(100);
  });

  test.each([
    [{}, []],
    [{ limit: 0 }, ['spec.limit: Invalid value: 0: must be greater than or equal to 1']],
    [{ limit: 1001 }, ['spec.limit: Invalid value: 1001: must be less than or equal to 1000']],
    [{ driver: '' }, ['spec.driver: Required value']],
    [{ poolName: 'a//b' }, ['spec.poolName: Invalid value: "a//b": segment 1: must not be empty']],
  ])('with %j', (spec, errors) => {
    expect(requests.validate(request(spec)).map(String)).toEqual(errors);
  });

  test('is answered once', () => {
    const answered = request({}, { poolCount: 1, pools: [pool], conditions: [complete] });
    expect(requests.validateStatusUpdate(answered, request({}))).toEqual([]);
    const [error] = requests.validateStatusUpdate(request({}, { poolCount: 2 }), answered).map(String);
    expect(error).toContain('status: Invalid value');
    expect(requests.validateStatusUpdate(request({}, { pools: [{ ...pool, generation: 0 }] }), request({})).map(String)).toEqual([
      'status.poolCount: Required value',
      'status.pools[0].generation: Required value',
    ]);
  });

  test('is printed with the sums of its pools', () => {
    const now = Date.parse('2026-01-01T00:01:00Z');
    const cells = requests.table.cells(request({}, { poolCount: 3, pools: [pool, pool], conditions: [complete] }), now);
    expect(cells).toEqual(['q', 'gpu.example.com', '8', '6', '2', '0', '0', 3, 'Complete (2/3 pools)', '60s']);
    expect(requests.table.cells(request({}), now).slice(2)).toEqual(['-', '-', '-', '-', '-', 0, 'Pending', '<none>']);
  });
});
