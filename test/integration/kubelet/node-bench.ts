import { core } from '#api';
import { inProcessTransport, startApiServer } from '#apiserver';
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client } from '#client';
import { type KubeletConfig, type SimulatedKubelet, SimulatedRuntime, startSimulatedKubelet } from '#kubelet';
import { openMemoryStore } from '#store';

export type PodDraft = Partial<core.PodSpec> & { readonly annotations?: Record<string, string>; readonly labels?: Record<string, string> };

type KubeletExtras = Partial<Pick<Parameters<typeof startSimulatedKubelet>[1], 'logger' | 'hooks'>>;

/** An API server and one kubelet with a simulated runtime, on the test's clock. */
export async function openNodeBench(config: Partial<KubeletConfig> = {}, seed = 1, kubeletDeps: KubeletExtras = {}) {
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const logger = silentLogger;
  const stop = new AbortController();
  const server = startApiServer(
    { version: { major: '1', minor: '36' }, anonymousAuth: false },
    {
      ...{ store: openMemoryStore({ clock }), clock, random, logger, metrics: new MetricsRegistry() },
      authenticators: [],
      authorizer: {
        authorize: () => ({ verdict: 'allow', reason: '' }),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
      admission: [],
    },
    stop.signal,
  );
  await server.ready;
  const as = (name: string) => new Client(inProcessTransport(server.handle, { name, groups: ['system:masters'] }, { clock }));
  const client = as('tester');
  const runtime = new SimulatedRuntime({}, { clock, random });
  const start = (on: SimulatedRuntime) =>
    startSimulatedKubelet(
      { nodeName: 'n1', nodeIps: ['192.0.2.1'], ...config },
      { client: as('system:node:n1'), runtime: on, clock, random, logger, metrics: new MetricsRegistry(), ...kubeletDeps },
      stop.signal,
    );
  const kubelet: SimulatedKubelet = start(runtime);
  await kubelet.ready;
  /** Another process for the same node, without the first one's state. */
  const boot = async () => {
    const again = start(new SimulatedRuntime({}, { clock, random }));
    await again.ready;
    return again;
  };
  const pods = client.of(core.Pod);
  const key = (name: string) => ({ name, namespace: 'default' });
  return {
    ...{ clock, client, runtime, kubelet, server, random, boot },
    async create(name: string, { annotations = {}, labels = {}, ...spec }: PodDraft = {}): Promise<core.Pod> {
      const scripted = Object.fromEntries(Object.entries(annotations).map(([at, value]) => [`sampan.dev/${at}`, value]));
      const containers = spec.containers ?? [{ name: 'c', image: 'app:1' }];
      const pod = await pods.create({
        metadata: { ...key(name), annotations: scripted, labels },
        spec: { nodeName: 'n1', ...spec, containers },
      } as never);
      await clock.settle();
      return pod;
    },
    pod: (name: string) => pods.get(key(name)),
    async status(name: string): Promise<core.PodStatus> {
      return (await pods.get(key(name))).status ?? {};
    },
    async container(name: string): Promise<core.ContainerStatus> {
      return (await pods.get(key(name))).status?.containerStatuses?.[0] as core.ContainerStatus;
    },
    async delete(name: string, gracePeriodSeconds?: number): Promise<void> {
      await pods.delete(key(name), gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
      await clock.settle();
    },
    names: async () => (await pods.list()).items.map(({ metadata }) => metadata.name),
    async events(name: string): Promise<readonly string[]> {
      const { items } = await client.of(core.Event).list();
      return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason, message }) => `${reason}: ${message}`);
    },
    async [Symbol.asyncDispose]() {
      const closing = kubelet[Symbol.asyncDispose]();
      await clock.settle();
      await closing;
      stop.abort();
      await server.done.catch(() => {});
    },
  };
}
