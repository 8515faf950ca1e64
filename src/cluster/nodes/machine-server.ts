import { isIPv6 } from 'node:net';
import { type Clock, type Component, type Logger, type Random, raceAbort, runComponent } from '#base';
import type { Client } from '#client';
import { KUBELET_PORT, type KubeletServer, type KubeletServerDeps, type ServingKeys, startKubeletServer } from '#kubelet';
import { type ClusterCertificates, createNodeServingCertificate } from '../pki/pki.ts';

export interface MachineServerConfig {
  readonly nodeName: string;
  readonly nodeIps: readonly string[];
  /** Absent: 10250, or any free port if that is taken, as by another cluster on this machine. */
  readonly port?: number | undefined;
}

export interface MachineServerDeps {
  /** The node's own client: it has callers authenticated and authorized. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly certificates: () => ClusterCertificates;
  readonly handle: KubeletServerDeps['handle'];
}

export interface MachineServer extends Component {
  /** Valid once it is ready. */
  readonly port: number;
}

/** The kubelet's API on the network, for metrics-server, Prometheus and others that do not ask the API server. */
export function startMachineServer(config: MachineServerConfig, deps: MachineServerDeps): MachineServer {
  let server: KubeletServer | undefined;
  const component = runComponent(undefined, async ({ signal, ready }) => {
    let { keys, renewAt } = servingKeys(config, deps);
    server = await listen(config, deps, keys);
    await using _ = server;
    deps.logger.info('the kubelet is serving', { port: server.port });
    ready();
    for (;;) {
      await raceAbort(Promise.race([deps.clock.sleep(renewAt - deps.clock.now(), signal), server.done]), signal);
      ({ keys, renewAt } = servingKeys(config, deps));
      server.use(keys);
    }
  });
  return {
    ...{ ready: component.ready, done: component.done },
    get port() {
      return server?.port ?? KUBELET_PORT;
    },
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}

function servingKeys({ nodeName, nodeIps }: MachineServerConfig, { certificates, clock, random }: MachineServerDeps) {
  const names = { nodeName, ipAddresses: nodeIps };
  const { certificate, key, renewAt } = createNodeServingCertificate(names, certificates().authority, { now: clock.now(), random });
  return { keys: { cert: certificate, key }, renewAt };
}

async function listen(config: MachineServerConfig, deps: MachineServerDeps, keys: ServingKeys): Promise<KubeletServer> {
  const listenAt = async (port: number) => {
    const tls = { ...keys, clientCa: deps.certificates().authority.certificate };
    const server = startKubeletServer({ nodeName: config.nodeName, host: wildcard(config), port, tls }, deps);
    await server.ready;
    return server;
  };
  try {
    return await listenAt(config.port ?? KUBELET_PORT);
  } catch (error) {
    const isPortInUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (!isPortInUse || config.port !== undefined) throw error;
    return listenAt(0);
  }
}

/** As upstream's default address: all interfaces. */
function wildcard({ nodeIps }: MachineServerConfig): string {
  return nodeIps.some((ip) => isIPv6(ip)) ? '::' : '0.0.0.0';
}
