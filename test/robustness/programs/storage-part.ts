import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserInfo } from '#apiserver';
import { createLogger, MetricsRegistry, realClock, systemRandom } from '#base';
import { Client, httpsTransport } from '#client';
import type { ClusterPki } from '#cluster';
import { startControllerManager } from '#controllers';
import { type CsiDriver, SimulatedRuntime, startSimulatedKubelet } from '#kubelet';
import { openEmbeddedStore } from '#store';
import { startDriverController } from '../../../src/cluster/csi-controllers.ts';
import { type Cluster, startCluster } from '../../../src/cluster/start-cluster.ts';
import { linuxParts } from '../../../src/kubelet/linux/linux-parts.ts';
import { NODES, runStorageLives } from '../storage/storage-lives.ts';

/**
 * A cluster with two nodes that have real volumes and simulated containers, or one part of it, which may be killed at any moment: `server`
 * (API server, scheduler, the default class, and the volumes' lives), `manager`, or a node's name. Without an argument all parts run in one
 * process. Prints `ready`, and from the part with the lives `finished` when nothing is left.
 */
const [directory = '', driverName = '', count = '1', port = '', part = ''] = process.argv.slice(2);
const logger = createLogger({ clock: realClock, write: (line) => appendFileSync(join(directory, 'log'), `${part}${line}\n`) });
const deps = { clock: realClock, random: systemRandom, logger, metrics: new MetricsRegistry() };
/** The controllers that pods and volumes need: the others only make each start slower. */
const controllers = [
  ...['serviceaccount-controller', 'taint-eviction-controller', 'pod-garbage-collector-controller', 'node-lifecycle-controller'],
  ...['persistentvolume-binder-controller', 'persistentvolume-attach-detach-controller', 'persistentvolume-expander-controller'],
  ...['persistentvolumeclaim-protection-controller', 'persistentvolume-protection-controller', 'ephemeral-volume-controller'],
];
const has = (name: string) => part === '' || part === name;

const pki = JSON.parse(readFileSync(join(directory, 'pki.json'), 'utf8')) as ClusterPki;
const cluster = has('server') ? await startServer() : undefined;
const clientAs = cluster?.clientAs ?? ((user: UserInfo, userAgent = 'sampan') => remoteClient(user, userAgent));
if (part === 'manager') await startManager();
for (const nodeName of NODES.filter(has)) await startNode(nodeName);
process.stdout.write('ready\n');
if (cluster !== undefined) {
  await runStorageLives({ directory, driverName, count: Number(count) }, cluster.client);
  process.stdout.write('finished\n');
}

async function startServer(): Promise<Cluster> {
  const store = await openEmbeddedStore({ directory: join(directory, 'store'), clock: realClock });
  const directories = new Map([[NODES[0] as string, join(directory, NODES[0], 'local-volumes')]]);
  const own =
    part === ''
      ? { controllerManager: { controllers } }
      : { listen: { host: '127.0.0.1', port: Number(port) }, controllerManager: { controllers: [] } };
  const started = startCluster({ pki, localStorage: { directories }, ...own }, { ...deps, store });
  await started.ready;
  return started;
}

function remoteClient({ name, groups }: UserInfo, userAgent: string): Client {
  const { certificate: cert, key } = pki.clients.admin;
  const server = { server: `https://127.0.0.1:${port}`, ca: pki.authority.certificate, credentials: { cert, key } };
  return new Client(httpsTransport({ ...server, impersonate: { user: name, ...(groups && { groups }) } }, deps, { userAgent }));
}

async function startManager(): Promise<void> {
  const client = clientAs({ name: 'kubernetes-admin', groups: ['system:masters'] }, 'kube-controller-manager');
  const options = { rootCa: pki.authority.certificate, serviceAccountPrivateKey: pki.serviceAccountKey };
  await startControllerManager({ options, controllers }, { ...deps, client }).ready;
}

async function startNode(nodeName: string): Promise<void> {
  const runtime = new SimulatedRuntime({}, deps);
  const root = {
    rootDir: join(directory, nodeName),
    podLogsDir: join(directory, nodeName, 'logs'),
    containerLogsDir: '',
    cgroupsPerQos: false,
  };
  const administrator = clientAs({ name: 'kubernetes-admin', groups: ['system:masters'] });
  const startController = (driver: CsiDriver) => startDriverController(driver, { ...deps, clientAs, administrator });
  const openParts = linuxParts(root, { ...deps, runtime, startDriverController: startController });
  const node = clientAs({ name: `system:node:${nodeName}`, groups: ['system:nodes', 'system:authenticated'] }, 'kubelet');
  await startSimulatedKubelet({ nodeName }, { ...deps, client: node, runtime, openParts }).ready;
}
