import { describe, expect, test } from 'vitest';
import { apps, authentication, core } from '#api';
import { startCluster, type TestCluster } from './index.ts';

const configMap = (name: string, value: string) =>
  `{ apiVersion: v1, kind: ConfigMap, metadata: { name: ${name} }, data: { value: ${value} } }`;

const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: boats.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: boats, singular: boat, kind: Boat, listKind: BoatList }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, properties: { length: { type: integer } } } }
`;
const BOAT = '{ apiVersion: example.com/v1, kind: Boat, metadata: { name: sampan }, length: 4 }';
const BOATS = { group: 'example.com', version: 'v1', resource: 'boats', namespaced: true };

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
`;

/** What every config map says, as the server and as a new watcher see it. */
async function valuesIn(cluster: TestCluster): Promise<Record<string, string | undefined>> {
  const { items } = await cluster.clock.until(cluster.client.of(core.ConfigMap).list({ namespace: 'default' }));
  return Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, data?.value]));
}

const namesIn = async (cluster: TestCluster, kind: typeof core.Event | typeof core.ServiceAccount) =>
  (await cluster.clock.until(cluster.client.of(kind as typeof core.Event).list())).items.map(({ metadata }) => metadata.name);

describe.each(['virtual', 'real'] as const)('a fork on %s time', (clock) => {
  test('begins with what was written just before, and neither sees what the other writes later', async () => {
    await using origin = await startCluster({ nodes: 1, clock });
    await origin.apply(configMap('changed', 'before'));
    await origin.apply(configMap('deleted', 'before'));
    await origin.apply(configMap('last', 'before'));
    await using fork = await origin.fork();
    const before = { changed: 'before', deleted: 'before', last: 'before' };
    expect(await valuesIn(fork)).toEqual(before);
    await fork.apply(configMap('changed', 'in the fork'));
    await fork.clock.until(fork.client.of(core.ConfigMap).delete({ namespace: 'default', name: 'deleted' }));
    await origin.apply(configMap('new', 'in the origin'));
    expect(await valuesIn(fork)).toEqual({ changed: 'in the fork', last: 'before' });
    expect(await valuesIn(origin)).toEqual({ ...before, new: 'in the origin' });
  });

  test('outlives the cluster it came from, and has its own forks', async () => {
    const origin = await startCluster({ nodes: 1, clock });
    await origin.apply(configMap('first', 'origin'));
    await using fork = await origin.fork();
    await origin[Symbol.asyncDispose]();
    await fork.apply(configMap('second', 'fork'));
    await using second = await fork.fork();
    await second.apply(configMap('third', 'second fork'));
    expect(await valuesIn(second)).toEqual({ first: 'origin', second: 'fork', third: 'second fork' });
    expect(await valuesIn(fork)).toEqual({ first: 'origin', second: 'fork' });
  });
});

describe('a fork', () => {
  test('works in all its parts: controllers, scheduler and nodes take up what it is given', async () => {
    await using origin = await startCluster({ nodes: 2, clock: 'virtual' });
    await using fork = await origin.fork();
    await fork.apply(DEPLOYMENT);
    const web = await fork.waitFor(async () => {
      const deployment = await fork.client.of(apps.Deployment).get({ namespace: 'default', name: 'web' });
      return deployment.status?.availableReplicas === 2 && deployment;
    });
    expect(web.status?.readyReplicas).toBe(2);
    await fork.clock.until(fork.client.of(apps.Deployment).delete({ namespace: 'default', name: 'web' }));
    await fork.waitFor(async () => (await fork.client.of(core.Pod).list({ namespace: 'default' })).items.length === 0);
    expect((await origin.client.of(core.Pod).list({ namespace: 'default' })).items).toEqual([]);
  });

  test('sends watchers what happens in it, from the revision that it began with', async () => {
    await using origin = await startCluster({ nodes: 0, clock: 'virtual' });
    await origin.apply(configMap('old', 'before'));
    await using fork = await origin.fork();
    const maps = fork.client.of(core.ConfigMap);
    const { metadata } = await maps.list({ namespace: 'default' });
    const seen: string[] = [];
    using _watch = maps.watchInto(
      { namespace: 'default', resourceVersion: metadata.resourceVersion },
      {
        event: (type, object) => void seen.push(`${type} ${object.metadata.name} ${object.data?.value}`),
        bookmark: () => {},
        error: (error) => void seen.push(String(error)),
        end: () => {},
      },
    );
    await origin.apply(configMap('old', 'in the origin'));
    await fork.apply(configMap('old', 'in the fork'));
    await fork.clock.settle();
    expect(seen).toEqual(['MODIFIED old in the fork']);
  });

  test('serves the custom resources of its origin, each by its own definition', async () => {
    await using origin = await startCluster({ nodes: 0, clock: 'virtual' });
    await origin.apply(DEFINITION);
    await origin.waitFor(() => origin.apply(BOAT));
    await using fork = await origin.fork();
    const boats = () => fork.clock.until(fork.client.resource(BOATS).list({ namespace: 'default' }));
    expect((await boats()).items).toMatchObject([{ metadata: { name: 'sampan' }, length: 4 }]);
    await fork.apply(DEFINITION.replace('length: { type: integer }', 'width: { type: integer }'));
    await fork.waitFor(async () => !('length' in ((await boats()).items[0] ?? {})));
    const [boat] = (await origin.client.resource(BOATS).list({ namespace: 'default' })).items;
    expect(boat).toHaveProperty('length', 4);
  });

  test('keeps what was taken away from its origin, even what every new cluster has', async () => {
    await using origin = await startCluster({ nodes: 0, clock: 'virtual' });
    const tracking = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' };
    await origin.clock.until(origin.client.of(core.ConfigMap).delete(tracking));
    await using fork = await origin.fork();
    const { items } = await fork.client.of(core.ConfigMap).list({ namespace: 'kube-system' });
    expect(items.map(({ metadata }) => metadata.name)).not.toContain(tracking.name);
  });

  test('has nodes that were up all along, and tells so when one of them starts', async () => {
    await using origin = await startCluster({ nodes: 2, clock: 'virtual' });
    await using fork = await origin.fork();
    const eventCounts = async (cluster: TestCluster) => {
      const { items } = await cluster.clock.until(cluster.client.of(core.Event).list());
      const starts = items.filter(({ source }) => source?.component === 'kubelet');
      return starts.map(({ involvedObject, reason, count }) => `${involvedObject.name} ${reason} ${count}`).sort();
    };
    const before = await eventCounts(origin);
    expect(before).toContain('n2 Starting 1');
    expect(await eventCounts(fork)).toEqual(before);
    await fork.node('n2').crash();
    await fork.clock.advance('61s');
    await fork.clock.until(fork.node('n2').recover());
    await fork.clock.settle();
    const starts = (await eventCounts(fork)).filter((event) => event.includes(' Starting '));
    expect(starts).toEqual(['n1 Starting 1', 'n2 Starting 1', 'n2 Starting 1']);
  });

  describe('of a cluster with a node in trouble', () => {
    const NODE_POD = `
apiVersion: v1
kind: Pod
metadata: { name: NAME }
spec: { nodeName: n2, tolerations: [{ operator: Exists }], containers: [{ name: c, image: i }] }
`;
    const readiness = async (cluster: TestCluster) => {
      const { status } = await cluster.clock.until(cluster.client.of(core.Node).get({ name: 'n2' }));
      return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    };
    const runs = (cluster: TestCluster, name: string) =>
      cluster.waitFor(async () => {
        const { status } = await cluster.client.of(core.Pod).get({ namespace: 'default', name });
        return status?.phase === 'Running' && status;
      });
    const podsOf = (cluster: TestCluster) => cluster.node('n2').pods.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);

    /** A cluster whose second node has one pod, and then the trouble. */
    async function troubled(trouble: 'crash' | 'partition') {
      const origin = await startCluster({ nodes: 2, clock: 'virtual' });
      await origin.apply(NODE_POD.replace('NAME', 'old'));
      await runs(origin, 'old');
      await origin.clock.until(Promise.resolve(origin.node('n2')[trouble]()));
      await origin.clock.advance('61s');
      expect(await readiness(origin)).toBe('Unknown');
      return origin;
    }

    test.each(['crash', 'partition'] as const)('has the same trouble after a %s, until the node recovers in it', async (trouble) => {
      await using origin = await troubled(trouble);
      await using fork = await origin.fork();
      expect(fork.node('n2').failure?.type).toBe(`${trouble}ed`);
      expect(podsOf(fork)).toEqual(podsOf(origin));
      await fork.clock.advance('3m');
      expect(await readiness(fork)).toBe('Unknown');
      await fork.apply(NODE_POD.replace('NAME', 'new'));
      await fork.clock.advance('1m');
      expect((await fork.client.of(core.Pod).get({ namespace: 'default', name: 'new' })).status?.phase).toBe('Pending');
      await fork.clock.until(fork.node('n2').recover());
      await runs(fork, 'new');
      expect(await readiness(fork)).toBe('True');
      expect(fork.node('n2').failure).toBeUndefined();
      const restarts = (await runs(fork, 'old')).containerStatuses?.[0]?.restartCount;
      expect(restarts).toBe(trouble === 'crash' ? 1 : 0);
      expect(await readiness(origin)).toBe('Unknown');
    });

    test('hands it on to its own forks', async () => {
      await using origin = await troubled('partition');
      await using fork = await origin.fork();
      await using second = await fork.fork();
      expect(podsOf(second)).toEqual(['old Running']);
      expect(second.node('n2').failure?.type).toBe('partitioned');
      expect(second.node('n1').failure).toBeUndefined();
    });
  });

  test('takes nodes that its origin had none of', async () => {
    await using origin = await startCluster({ nodes: 0, clock: 'virtual' });
    await using fork = await origin.fork();
    await fork.addNode('n1');
    await fork.apply(DEPLOYMENT);
    await fork.waitFor(async () => {
      const { items } = await fork.client.of(core.Pod).list({ namespace: 'default' });
      return items.length === 2 && items.every(({ status }) => status?.phase === 'Running');
    });
    await using second = await fork.fork();
    await second.addNode('n2');
    expect((await second.client.of(core.Node).list()).items.map(({ metadata }) => metadata.name)).toEqual(['n1', 'n2']);
  });

  test('takes the tokens of its origin', async () => {
    await using origin = await startCluster({ nodes: 0, clock: 'virtual' });
    const tokens = origin.client.of(core.ServiceAccount).subresource<authentication.TokenRequest>('token');
    const patch = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [] } };
    const { status } = await origin.clock.until(tokens.create({ namespace: 'default', name: 'default' }, patch as never));
    await using fork = await origin.fork();
    const review = await fork.client.of(authentication.TokenReview).create({ spec: { token: status!.token } } as never);
    expect(review).toMatchObject({ status: { authenticated: true, user: { username: 'system:serviceaccount:default:default' } } });
  });

  test('ages by its own clock: time in the origin ends no event in it', async () => {
    await using origin = await startCluster({ nodes: 1, clock: 'virtual' });
    await using fork = await origin.fork();
    // Its controllers record events about the nodes that they find.
    await fork.clock.settle();
    const events = await namesIn(fork, core.Event);
    expect(events).not.toEqual([]);
    await origin.clock.advance('65m');
    expect(await namesIn(fork, core.Event)).toEqual(events);
    await fork.clock.advance('65m');
    expect((await namesIn(fork, core.Event)).filter((name) => events.includes(name))).toEqual([]);
  });

  test('goes the same way as another fork of the same seed and steps', async () => {
    const history = async () => {
      await using origin = await startCluster({ nodes: 3, clock: 'virtual', seed: 5 });
      await using fork = await origin.fork();
      await fork.apply(DEPLOYMENT);
      await fork.clock.advance('1m');
      const { items } = await fork.client.of(core.Pod).list({ namespace: 'default' });
      return { pods: items.map(({ metadata, spec }) => `${metadata.name} ${spec?.nodeName}`), events: await namesIn(fork, core.Event) };
    };
    const first = await history();
    expect(first.pods).toHaveLength(2);
    expect(await history()).toEqual(first);
  });
});
