import { describe, expect, test } from 'vitest';
import { VirtualClock } from '#base';
import type { ContainerRuntime, RuntimeStatus } from '../cri/runtime.ts';
import { RuntimeHealth } from './runtime-health.ts';

const READY = { type: 'RuntimeReady', status: true, reason: '', message: '' };
const NETWORK = { type: 'NetworkReady', status: true, reason: '', message: '' };

function health(conditions: readonly RuntimeStatus['conditions'][number][]) {
  const clock = new VirtualClock();
  const runtime = {
    version: async () => ({ runtimeName: 'r', runtimeVersion: '1' }),
    status: async () => ({ conditions, handlers: [], features: {} }),
    listImages: async () => [],
  } as unknown as ContainerRuntime;
  return { clock, health: new RuntimeHealth({ runtime, clock }) };
}

describe('the health of a runtime', () => {
  test.each([
    ['all is well', [READY, NETWORK], []],
    ['nothing is said of the runtime', [NETWORK, NETWORK], ['container runtime not ready: <nil>']],
    [
      'the network is down',
      [READY, { ...NETWORK, status: false, reason: 'NoCni', message: 'none' }],
      ['container runtime network not ready: NetworkReady=false reason:NoCni message:none'],
    ],
  ])('in upstream’s words: %s', async (_, conditions, problems) => {
    expect((await health(conditions).health.read()).problems).toEqual(problems);
  });

  test('says why pods have no network until they have', async () => {
    const conditions = [READY, { ...NETWORK, status: false, reason: 'NoCni', message: 'none' }];
    const { health: runtime } = health(conditions);
    await runtime.read();
    expect(await runtime.networkProblem()).toBe('container runtime network not ready: NetworkReady=false reason:NoCni message:none');
    conditions[1] = NETWORK;
    expect(await runtime.networkProblem()).toBeUndefined();
  });

  test('is bad when its containers could not be listed for three minutes', async () => {
    const { clock, health: runtime } = health([READY, NETWORK]);
    await clock.advance(600_000);
    expect((await runtime.read()).problems).toEqual([]);
    runtime.relisted();
    await clock.advance(185_000);
    expect((await runtime.read()).problems).toEqual(['PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s']);
    runtime.relisted();
    expect((await runtime.read()).problems).toEqual([]);
  });
});
