import { core } from '#api';
import { type Clock, type Component, type Logger, parseCidr, type Random, raceAbort, repeat, runComponent } from '#base';
import { type Client, type EventRecorder, EventSink, InformerFactory, keyOf, type SharedInformer } from '#client';
import { assignAddresses, currentAddresses } from './assign-addresses.ts';
import { listeningPorts } from './listening-ports.ts';

export interface LocalLoadBalancerConfig {
  /** Address ranges that are routed to the machine; empty: services share the nodes' addresses. */
  readonly ranges?: readonly string[];
}

export interface LocalLoadBalancerDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: of this machine. */
  readonly listeningPorts?: () => ReadonlySet<string>;
}

/** Services with another class belong to another controller. */
export const LOAD_BALANCER_CLASS = 'sampan/local';
const EXCLUDED_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';

/** Throws on an invalid range. */
export function checkRanges(ranges: readonly string[]): void {
  for (const range of ranges)
    if (parseCidr(range) === undefined) throw new Error(`"${range}" is not a range of addresses such as 192.168.1.240/28`);
}

/** Implements LoadBalancer services without a cloud: assigns addresses that the nodes' proxies serve. */
export function startLocalLoadBalancer(config: LocalLoadBalancerConfig, deps: LocalLoadBalancerDeps, signal?: AbortSignal): Component {
  checkRanges(config.ranges ?? []);
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    const informers = new InformerFactory(deps.client, deps);
    const events = new EventSink(deps, stopping).recorder({ component: 'service-controller' });
    const problems = new Map<string, string>();
    const services = informers.of(core.Service);
    const nodes = informers.of(core.Node);
    let wake: () => void = () => {};
    let isDirty = true;
    const touch = () => {
      isDirty = true;
      wake();
    };
    const handler = { add: touch, update: touch, delete: touch };
    services.addHandler(handler);
    nodes.addHandler(handler);
    try {
      informers.start(stopping);
      await raceAbort(informers.synced(), stopping);
      ready();
      const onError = (error: unknown) => {
        deps.logger.error('addresses of load balancers could not be published', { error });
        isDirty = true;
      };
      await repeat({ clock: deps.clock, intervalMs: 0, signal: stopping, onError }, async () => {
        if (!isDirty) {
          const woken = new Promise<void>((resolve) => {
            wake = resolve;
          });
          await raceAbort(woken, stopping);
        }
        isDirty = false;
        await reconcile({ config, deps, services, nodes, events, problems });
      });
    } finally {
      await informers.stop();
    }
  });
}

interface ReconcileContext {
  readonly config: LocalLoadBalancerConfig;
  readonly deps: LocalLoadBalancerDeps;
  readonly services: SharedInformer<core.Service>;
  readonly nodes: SharedInformer<core.Node>;
  readonly events: EventRecorder;
  /** The last reported problem, by service. */
  readonly problems: Map<string, string>;
}

async function reconcile(reconciling: ReconcileContext): Promise<void> {
  const { config, deps, services, nodes } = reconciling;
  const all = services.lister.list();
  const ownServices = all.filter(isManaged);
  const used = (deps.listeningPorts ?? listeningPorts)();
  const source = {
    ranges: config.ranges ?? [],
    nodeAddresses: nodes.lister.list().filter(takesTraffic).flatMap(internalAddresses),
    isPortInUse: (protocol: string, port: number) => used.has(`${protocol} ${port}`),
  };
  for (const [service, assignment] of assignAddresses(ownServices, source)) {
    report(reconciling, service, 'problem' in assignment ? assignment.problem : undefined);
    await publish(deps.client, service, 'addresses' in assignment ? assignment.addresses : []);
  }
  for (const service of all.filter((candidate) => candidate.spec?.type !== 'LoadBalancer' && currentAddresses(candidate).length > 0))
    await publish(deps.client, service, []);
}

/** Reports a problem once until it changes. */
function report({ events, problems, deps }: ReconcileContext, service: core.Service, problem: string | undefined): void {
  const key = keyOf(service);
  if (problems.get(key) === problem) return;
  if (problem === undefined) {
    problems.delete(key);
    return;
  }
  problems.set(key, problem);
  deps.logger.warn('a service has no load balancer', { service: key, why: problem });
  events.warning(service, 'SyncLoadBalancerFailed', `Error syncing load balancer: ${problem}`);
}

function isManaged({ spec, metadata }: core.Service): boolean {
  if (spec?.type !== 'LoadBalancer' || metadata?.deletionTimestamp !== undefined) return false;
  return spec.loadBalancerClass === undefined || spec.loadBalancerClass === LOAD_BALANCER_CLASS;
}

function takesTraffic({ metadata }: core.Node): boolean {
  return metadata?.labels?.[EXCLUDED_LABEL] === undefined && metadata?.deletionTimestamp === undefined;
}

function internalAddresses({ status }: core.Node): readonly string[] {
  return (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
}

async function publish(client: Client, service: core.Service, addresses: readonly string[]): Promise<void> {
  if (currentAddresses(service).join() === addresses.join()) return;
  const loadBalancer = addresses.length === 0 ? null : { ingress: addresses.map((ip) => ({ ip, ipMode: 'VIP' })) };
  const { name = '', namespace = '' } = service.metadata ?? {};
  await client.of(core.Service).patch({ name, namespace }, { status: { loadBalancer } }, { subresource: 'status' });
}
