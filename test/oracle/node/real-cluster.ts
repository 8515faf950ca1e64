import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createLogger, GrpcClient, MetricsRegistry, realClock, systemRandom } from '#base';
import { openLocalCluster } from '#cluster';
import {
  architectureOf,
  cniDirectories,
  findProgram,
  GrpcRuntime,
  importArchive,
  startLinuxKubelet,
  startPrivateContainerd,
  streamingUrlClient,
} from '#kubelet';
import { startNetworkAgent } from '#network';
import { openCgroupTree } from '../../../src/kubelet/cgroups/cgroup-tree.ts';

/** One process with a whole cluster and one real node, for the recordings. Prints a line when it is ready; ends with its input. */
const options = { data: { type: 'string' }, run: { type: 'string' }, ip: { type: 'string' }, image: { type: 'string' } } as const;
const { data = '', run = '', ip = '127.0.0.1', image = '' } = parseArgs({ options }).values;
const nodeName = 'node-1';
const clock = realClock;
const cgroup = `sampan-oracle-${process.pid}`;
await using _cgroups = { [Symbol.asyncDispose]: async () => (await openCgroupTree()).remove(cgroup) };
const logger = createLogger({ clock, level: 'info', format: 'human', write: (line) => void process.stderr.write(`${line}\n`) });
const deps = { clock, random: systemRandom, logger, metrics: new MetricsRegistry() };
const architecture = architectureOf(process.arch)!;
const programs = { containerd: (await findProgram('containerd', ''))!, ociRuntime: (await findProgram('runc', ''))! };
const containerdConfig = { dataDirectory: `${data}/containerd`, runDirectory: run, architecture, ...programs };
const { bin, conf } = cniDirectories(containerdConfig);
for (const directory of [data, bin, conf, `${data}/kubelet`]) await mkdir(directory, { recursive: true });

await using cluster = await openLocalCluster(
  {
    ...{ name: 'oracle', dataDirectory: `${data}/cluster`, host: ip, port: 6443, store: { type: 'memory' } },
    cluster: { controllerManager: { options: { clusterCidrs: ['10.244.0.0/16'] } } },
  },
  deps,
);
await using containerd = startPrivateContainerd(containerdConfig, deps);
await containerd.ready;
using containers = new GrpcClient({ endpoint: containerd.endpoint, clock });
await importArchive(containers, createReadStream(image), { architecture, now: clock.now() });
using runtime = new GrpcRuntime({ endpoint: containerd.endpoint }, { ...deps, streaming: streamingUrlClient(deps) });
const client = cluster.cluster.clientAs({ name: `system:node:${nodeName}`, groups: ['system:nodes', 'system:authenticated'] }, 'kubelet');
const agentConfig = { nodeName, stateDirectory: `${data}/network`, binDirectory: bin, configDirectory: conf };
await using network = startNetworkAgent(agentConfig, { ...deps, client: cluster.cluster.client });
await using kubelet = startLinuxKubelet(
  {
    ...{
      nodeName,
      nodeIps: [ip],
      rootDir: `${data}/kubelet`,
      podLogsDir: `${data}/logs/pods`,
      containerLogsDir: `${data}/logs/containers`,
    },
    ...{ clusterDns: ['10.96.0.10'], clusterDomain: 'cluster.local', cgroupRoot: `/${cgroup}`, configuration: { evictionHard: {} } },
  },
  { ...deps, client, runtime },
);
cluster.cluster.kubelets.add(nodeName, (call) => kubelet.handle(call));
await kubelet.ready;
await network.ready;
process.stdout.write(`ready ${cluster.kubeconfig}\n`);
process.stdin.resume();
await new Promise((resolve) => process.stdin.once('end', resolve));
