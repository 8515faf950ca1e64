import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { seededRandom, VirtualClock } from '#base';
import { Client, type Transport, type TransportRequest } from '#client';
import { formatTime } from '#machinery';
import { PodTokens } from './pod-tokens.ts';

const POD: core.Pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { serviceAccountName: 'builder', containers: [] } };
const HOUR = 3_600_000;

function openTokens() {
  const clock = new VirtualClock();
  const requests: TransportRequest[] = [];
  let problem: Error | undefined;
  const transport = {
    isLocal: true,
    request: async (request: TransportRequest) => {
      if (problem !== undefined) throw problem;
      requests.push(request);
      const { expirationSeconds } = (request.body as { spec: { expirationSeconds: number } }).spec;
      return { status: { token: `t${requests.length}`, expirationTimestamp: formatTime(clock.now() + expirationSeconds * 1000) } };
    },
  } as unknown as Transport;
  const tokens = new PodTokens({ client: new Client(transport), clock, random: seededRandom('tokens') });
  return {
    ...{ clock, requests, tokens },
    fail: (error: Error) => {
      problem = error;
    },
  };
}

describe('the tokens of a pod', () => {
  it('are bound to it, and asked for once', async () => {
    const { tokens, requests } = openTokens();
    const first = await tokens.get(POD, { audience: 'vault', expirationSeconds: 3600 });
    expect((await tokens.get(POD, { audience: 'vault', expirationSeconds: 3600 })).token).toBe(first.token);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      path: '/api/v1/namespaces/n/serviceaccounts/builder/token',
      body: { spec: { audiences: ['vault'], expirationSeconds: 3600, boundObjectRef: { kind: 'Pod', name: 'p', uid: 'u' } } },
    });
  });

  it('are renewed when 80 % of their time is over', async () => {
    const { tokens, clock } = openTokens();
    await tokens.get(POD, { audience: '', expirationSeconds: 3600 });
    await clock.advance(0.79 * HOUR);
    expect((await tokens.get(POD, { audience: '', expirationSeconds: 3600 })).token).toBe('t1');
    await clock.advance(0.01 * HOUR);
    expect((await tokens.get(POD, { audience: '', expirationSeconds: 3600 })).token).toBe('t2');
  });

  it('are renewed after a day, however long they are good', async () => {
    const { tokens, clock } = openTokens();
    await tokens.get(POD, { audience: '', expirationSeconds: 365 * 86_400 });
    await clock.advance(24 * HOUR);
    expect((await tokens.get(POD, { audience: '', expirationSeconds: 365 * 86_400 })).token).toBe('t2');
  });

  it('are used on while they are good and no other can be had', async () => {
    const { tokens, clock, fail } = openTokens();
    await tokens.get(POD, { audience: '', expirationSeconds: 3600 });
    fail(new Error('no answer'));
    await clock.advance(0.9 * HOUR);
    expect((await tokens.get(POD, { audience: '', expirationSeconds: 3600 })).token).toBe('t1');
    await clock.advance(0.1 * HOUR);
    await expect(tokens.get(POD, { audience: '', expirationSeconds: 3600 })).rejects.toThrow('failed to fetch token: no answer');
  });

  it('are forgotten with the pod', async () => {
    const { tokens, requests } = openTokens();
    await tokens.get(POD, { audience: '', expirationSeconds: 3600 });
    tokens.release('u');
    await tokens.get(POD, { audience: '', expirationSeconds: 3600 });
    expect(requests).toHaveLength(2);
  });
});
