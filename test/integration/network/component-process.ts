// Runs one network component in its own process, so that a test can kill it. The argument is its configuration as JSON.
import { KernelNetwork, MetricsRegistry, realClock, silentLogger, systemRandom } from '#base';
import { Client, httpsTransport, loadConnection } from '#client';
import { type DnsServerConfig, startDns } from '#dns';
import { type NetworkAgentConfig, startNetworkAgent } from '#network';
import { type ProxyConfig, startProxy } from '#proxy';

export type ComponentArguments = { readonly kubeconfig: string; readonly netns: string } & (
  | { readonly name: 'agent'; readonly config: NetworkAgentConfig }
  | { readonly name: 'proxy'; readonly config: ProxyConfig }
  | { readonly name: 'dns'; readonly config: DnsServerConfig }
);

const args = JSON.parse(process.argv[2] ?? '') as ComponentArguments;
const common = { clock: realClock, random: systemRandom, logger: silentLogger, metrics: new MetricsRegistry() };
const { connection } = await loadConnection({ path: args.kubeconfig, processEnv: {} });
const client = new Client(httpsTransport(connection, common, { userAgent: args.name }));
const deps = { ...common, client, kernel: new KernelNetwork(args.netns) };

function start(onGateway: () => void) {
  switch (args.name) {
    case 'agent':
      return startNetworkAgent(args.config, { ...deps, onGateway });
    case 'proxy':
      return startProxy(args.config, deps);
    case 'dns':
      return startDns(args.config, deps);
  }
}

const hasGateway = new Promise<void>((resolve) => {
  start(resolve).ready.then(async () => {
    if (args.name === 'agent') await hasGateway;
    console.log('ready');
  });
});
