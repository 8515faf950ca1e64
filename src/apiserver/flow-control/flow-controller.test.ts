import { beforeEach, describe, expect, test } from 'vitest';
import type { flowcontrol } from '#api';
import { MetricsRegistry, VirtualClock } from '#base';
import { DEFAULT_FLOW_SCHEMAS, DEFAULT_PRIORITY_LEVELS } from '../bootstrap/flow-control-defaults.ts';
import { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { parseRequestInfo } from '../request/request-info.ts';
import type { UserInfo } from '../request/user.ts';
import { FlowController } from './flow-controller.ts';
import type { Ticket } from './ticket.ts';

/** Granted per turn of the event loop. */
const SEATS = 4;

type Follower = { put(key: string, object: unknown): void; remove(key: string): void };

/** Flow control on objects that the test holds, in turns that the test counts. */
class Place {
  readonly clock = new VirtualClock();
  readonly metrics = new MetricsRegistry();
  readonly followers = new Map<string, Follower>();
  turn = 0;
  nextTurns: (() => void)[] = [];
  readonly controller: FlowController;

  constructor(totalSeats = 600) {
    const table = new ResourceTable();
    const storage = (_group: string, _version: string, resource: string) => ({
      cache: { follow: async (follower: Follower) => void this.followers.set(resource, follower) },
    });
    Object.assign(table, { storage });
    this.controller = new FlowController(
      { totalSeats, waitLimitMs: () => 15_000 },
      {
        table,
        metrics: this.metrics,
        clock: this.clock,
        peerClock: this.clock,
        turn: () => this.turn,
        nextTurn: (callback) => void this.nextTurns.push(callback),
      },
    );
  }

  async start(): Promise<this> {
    await this.controller.start();
    for (const level of DEFAULT_PRIORITY_LEVELS) this.putLevel(level.metadata.name, level.spec);
    for (const { metadata, spec } of DEFAULT_FLOW_SCHEMAS) this.putSchema(metadata.name, spec);
    return this;
  }

  putLevel(name: string, spec: flowcontrol.PriorityLevelConfigurationSpec): void {
    this.followers.get('prioritylevelconfigurations')!.put(name, { metadata: { name, uid: `uid of ${name}` }, spec });
  }

  putSchema(name: string, spec: flowcontrol.FlowSchemaSpec): void {
    this.followers.get('flowschemas')!.put(name, { metadata: { name, uid: `uid of ${name}` }, spec });
  }

  ask(user: UserInfo, path = '/api/v1/namespaces/default/pods/a', { method = 'GET', isLocal = false } = {}) {
    const request = { method, path, query: new URLSearchParams(), user, isLocal, info: parseRequestInfo({ method, path, watch: false }) };
    return request as unknown as ApiRequest;
  }

  enter(user: UserInfo, path?: string, options = {}): AdmittedRequest {
    const request = this.ask(user, path, options);
    const entry = this.controller.classify(request);
    const outcome = this.controller.admit(request, entry);
    const admitted: AdmittedRequest = { state: 'waiting', ticket: undefined };
    const settle = (ticket: Ticket | undefined) => Object.assign(admitted, { state: ticket ? 'runs' : 'rejected', ticket });
    if (outcome instanceof Promise) void outcome.then(settle);
    else settle(outcome);
    return admitted;
  }

  /** Everything runnable in this turn has run, and the next turn begins. */
  async passTurn(): Promise<void> {
    this.turn++;
    for (const callback of this.nextTurns.splice(0)) callback();
    await Promise.resolve();
  }

  metric(name: string): string | undefined {
    return this.metrics
      .text()
      .split('\n')
      .find((line) => line.startsWith(`apiserver_flowcontrol_${name}`));
  }
}

interface AdmittedRequest {
  state: 'runs' | 'waiting' | 'rejected';
  ticket: Ticket | undefined;
}

const user = (name: string, ...groups: string[]): UserInfo => ({ name, groups: [...groups, 'system:authenticated'] });
const ADMIN = user('admin', 'system:masters');
const NODE = user('system:node:a', 'system:nodes');

let place: Place;
beforeEach(async () => {
  place = await new Place().start();
});

describe('a request belongs to', () => {
  test.each([
    ['the exempt level, of an administrator', ADMIN, '/api/v1/pods', 'exempt', 'exempt'],
    ['the exempt level, of a probe', user('x'), '/healthz', 'probes', 'exempt'],
    [
      'the level of nodes, for their leases',
      NODE,
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a',
      'system-node-high',
      'node-high',
    ],
    ['the level of the system, of a node', NODE, '/api/v1/namespaces/a/pods', 'system-nodes', 'system'],
    [
      'the level of workloads, of an account',
      user('system:serviceaccount:a:b', 'system:serviceaccounts'),
      '/api/v1/pods',
      'service-accounts',
      'workload-low',
    ],
    [
      'the level of system workloads, of their accounts',
      user('system:serviceaccount:kube-system:b', 'system:serviceaccounts'),
      '/api/v1/pods',
      'kube-system-service-accounts',
      'workload-high',
    ],
    ['the default level, of anybody else', user('jane'), '/api/v1/pods', 'global-default', 'global-default'],
    ['the last level, of who is in no group', { name: 'nobody', groups: [] }, '/api/v1/pods', 'catch-all', 'catch-all'],
  ])('%s', (_, requester, path, schema, level) => {
    const entry = place.controller.classify(place.ask(requester, path));
    expect([entry.name, entry.level.name]).toEqual([schema, level]);
  });

  test('another schema as soon as one of higher precedence matches', () => {
    const subject = { kind: 'User', user: { name: 'jane' } };
    const resourceRules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['default'] }];
    const spec = {
      priorityLevelConfiguration: { name: 'system' },
      matchingPrecedence: 50,
      rules: [{ subjects: [subject], resourceRules }],
    };
    place.putSchema('mine', spec as flowcontrol.FlowSchemaSpec);
    expect(place.controller.classify(place.ask(user('jane'))).name).toBe('mine');
    expect(place.controller.classify(place.ask(user('jane'), '/api/v1/namespaces/other/pods/a')).name).toBe('global-default');
    place.followers.get('flowschemas')!.remove('mine');
    expect(place.controller.classify(place.ask(user('jane'))).name).toBe('global-default');
  });
});

test('priority levels get seats by their shares, with rounding as upstream', () => {
  const levels = [...place.controller.levels()].map(({ name, limits }) => [name, limits.nominal, limits.lowest]);
  expect(new Map(levels.map(([name, nominal, lowest]) => [name, [nominal, lowest]]))).toEqual(
    new Map([
      ['exempt', [0, 0]],
      ['catch-all', [13, 13]],
      ['system', [74, 50]],
      ['node-high', [98, 73]],
      ['leader-election', [25, 25]],
      ['workload-high', [98, 49]],
      ['workload-low', [245, 24]],
      ['global-default', [49, 24]],
    ]),
  );
});

describe('when many ask at once', () => {
  test('a polite client runs in the next turn, however many of another wait', async () => {
    const noisy = Array.from({ length: 200 }, () => place.enter(user('noisy')));
    expect(noisy.filter(({ state }) => state === 'runs').length).toBe(SEATS);
    const polite = Array.from({ length: 3 }, (_, i) => place.enter(user(`polite ${i}`)));
    expect(polite.map(({ state }) => state)).toEqual(Array(3).fill('waiting'));
    for (const { ticket } of noisy) if (ticket) place.controller.finish(ticket);
    await place.passTurn();
    expect(polite.map(({ state }) => state)).toEqual(Array(3).fill('runs'));
    expect(noisy.filter(({ state }) => state === 'runs').length).toBe(SEATS + 1);
  });

  test('every flow gets on: of 20 polite clients beside one with 200 connections none waits for more than 40 requests', async () => {
    const noisy = () => place.enter(user('noisy'));
    let running = Array.from({ length: 200 }, noisy);
    const waits: number[] = [];
    for (let round = 0; round < 20; round++) {
      const polite = Array.from({ length: 20 }, (_, i) => ({ at: place.turn, admitted: place.enter(user(`polite ${i}`)) }));
      while (polite.some(({ admitted }) => admitted.state !== 'runs')) {
        await place.passTurn();
        running = running.map((active) => {
          if (active.ticket === undefined) return active;
          place.controller.finish(active.ticket);
          return noisy();
        });
      }
      for (const { at, admitted } of polite) {
        waits.push(place.turn - at);
        place.controller.finish(admitted.ticket!);
      }
    }
    expect(Math.max(...waits) * SEATS).toBeLessThanOrEqual(40);
  });

  test('a polite client that arrives after others in a turn is served before their next requests', async () => {
    const running = Array.from({ length: 200 }, () => place.enter(user('noisy')));
    for (let round = 0; round < 5; round++) {
      for (const { ticket } of running.splice(0, SEATS)) if (ticket) place.controller.finish(ticket);
      // The data of a turn is read before its seats are granted.
      place.turn++;
      for (let i = 0; i < SEATS; i++) running.push(place.enter(user('noisy')));
      const polite = place.enter(user('polite'));
      place.turn--;
      await place.passTurn();
      expect(polite.state).toBe('runs');
      place.controller.finish(polite.ticket!);
    }
  });

  test('who finds all queues full is rejected, others are not', async () => {
    const noisy = Array.from({ length: SEATS + 6 * 50 + 40 }, () => place.enter(user('noisy')));
    expect(noisy.filter(({ state }) => state === 'rejected').length).toBe(40);
    expect(place.enter(user('polite')).state).toBe('waiting');
    expect(place.metric('rejected_requests_total')).toContain(
      'priority_level="global-default",flow_schema="global-default",reason="queue-full"} 40',
    );
  });

  test('who waits longer than a quarter of its time is rejected', async () => {
    const first = Array.from({ length: SEATS }, () => place.enter(user('a')));
    const late = place.enter(user('b'));
    await place.clock.advance(16_000);
    expect([first[0]!.state, late.state]).toEqual(['runs', 'rejected']);
  });

  test('components of this process are never rejected: they wait for seats', async () => {
    const local = Array.from({ length: 2000 }, () => place.enter(NODE, undefined, { isLocal: true }));
    const states = local.map(({ state }) => state);
    expect(states).not.toContain('rejected');
    expect(states.filter((state) => state === 'runs').length).toBeGreaterThan(SEATS);
    for (let i = 0; i < local.length; i++) {
      await Promise.resolve();
      const { ticket } = local[i]!;
      if (ticket) place.controller.finish(ticket);
    }
    expect(local.every(({ state }) => state === 'runs')).toBe(true);
  });

  test('administrators are not held up by anybody', () => {
    for (let i = 0; i < 300; i++) place.enter(user('noisy'));
    expect(place.enter(ADMIN).state).toBe('runs');
  });
});

test('a busy priority level borrows unused seats, and returns them', async () => {
  const limit = () => [...place.controller.levels()].find(({ name }) => name === 'workload-high')!.limit;
  const manager = user('system:kube-controller-manager');
  const before = limit();
  const busy = Array.from({ length: 400 }, () => place.enter(manager, undefined, { isLocal: true }));
  await place.clock.advance(10_001);
  place.enter(ADMIN);
  await Promise.resolve();
  expect(limit()).toBeGreaterThan(Math.max(before, 98));
  expect(busy.filter(({ state }) => state === 'runs').length).toBe(limit());
  for (let i = 0; i < busy.length; i++) {
    await Promise.resolve();
    const { ticket } = busy[i]!;
    if (ticket) place.controller.finish(ticket);
  }
  const others = Array.from({ length: 300 }, () =>
    place.enter(user('system:serviceaccount:a:b', 'system:serviceaccounts'), undefined, { isLocal: true }),
  );
  for (let i = 0; i < 200; i++) {
    await place.clock.advance(10_001);
    place.enter(ADMIN);
  }
  expect(others.filter(({ state }) => state === 'runs').length).toBeGreaterThan(245);
  expect(limit()).toBeLessThan(150);
});

test('missing mandatory priority levels have defaults, and requests of a deleted level finish', async () => {
  const bare = new Place();
  await bare.controller.start();
  expect(bare.controller.classify(bare.ask(user('jane'))).level.name).toBe('catch-all');
  const { ticket } = place.enter(user('jane'));
  place.followers.get('prioritylevelconfigurations')!.remove('global-default');
  expect(place.controller.classify(place.ask(user('jane'))).level.name).toBe('catch-all');
  expect([...place.controller.levels()].find(({ name }) => name === 'global-default')?.isQuiescing).toBe(true);
  place.controller.finish(ticket!);
  expect([...place.controller.levels()].map(({ name }) => name)).not.toContain('global-default');
});
