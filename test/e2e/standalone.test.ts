import { type ChildProcess, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { realClock, systemRandom } from '#base';
import { createClientCertificate, createPki, nodeSubject, renderKubeconfig } from '#cluster';
import { freePort } from '../../src/store/contract/free-port.ts';
import { end, Workplace } from './sampan-process.ts';

const hasEtcd = spawnSync('etcd', ['--version']).status === 0;

const DEPLOYMENT = (name: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  replicas: 2
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: main, image: 'main:1' }] }
`;

/** A cluster's keys as files, and a kubeconfig for each client of the server at `ports`. */
async function writeKeys(at: Workplace, ports: readonly number[]): Promise<void> {
  const issuing = { now: realClock.now(), random: systemRandom };
  const pki = await createPki({ ...issuing, names: { ipAddresses: ['127.0.0.1'] } });
  const files = { 'ca.crt': pki.authority.certificate, 'sa.key': pki.serviceAccountKey, 'server.crt': pki.serving.certificate };
  for (const [name, text] of Object.entries({ ...files, 'server.key': pki.serving.key })) writeFileSync(at.path(name), text);
  const node = createClientCertificate(nodeSubject('worker'), pki.authority, issuing);
  const users = { admin: pki.clients.admin, manager: pki.clients.controllerManager, scheduler: pki.clients.scheduler, node };
  for (const [user, { certificate: clientCertificate, key: clientKey }] of Object.entries(users))
    for (const [i, port] of ports.entries()) {
      const access = { clusterName: 'ha', server: `https://127.0.0.1:${port}`, caCertificate: pki.authority.certificate };
      writeFileSync(at.path(`${user}-${i}.kubeconfig`), renderKubeconfig({ ...access, clientCertificate, clientKey }));
    }
}

function startApiServer(at: Workplace, name: string, { etcd, port }: { etcd: number; port: number }): ChildProcess {
  const files = ['--tls-cert-file=server.crt', '--tls-private-key-file=server.key', '--client-ca-file=ca.crt'];
  const where = [`--etcd-servers=http://127.0.0.1:${etcd}`, '--bind-address=127.0.0.1', `--secure-port=${port}`];
  return at.startSampan(name, 'apiserver', ...where, ...files, '--service-account-signing-key-file=sa.key');
}

function startEtcd(at: Workplace, client: number, peer: number): void {
  const urls = (flag: string, port: number) => [`--listen-${flag}-urls=http://127.0.0.1:${port}`];
  at.start('etcd', 'etcd', [
    `--data-dir=${at.path('etcd')}`,
    ...urls('client', client),
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    ...urls('peer', peer),
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
  ]);
}

test.runIf(hasEtcd)(
  'two of each component share one etcd: one leads, and when it is killed the other takes over',
  async () => {
    await using at = new Workplace();
    const [etcd = 0, peer = 0, ...ports] = [await freePort(), await freePort(), await freePort(), await freePort()];
    startEtcd(at, etcd, peer);
    await writeKeys(at, ports);
    const [first, second] = ports.map((_, i) => `--kubeconfig=${at.path(`admin-${i}.kubeconfig`)}`) as [string, string];
    const kubectl = (...args: string[]) => at.kubectl(second, ...args);
    const ready = (flag: string) => () => at.run('kubectl', [flag, 'get', '--raw', '/readyz']).then(({ stdout }) => stdout);
    ports.forEach((port, i) => void startApiServer(at, `apiserver-${i}`, { etcd, port }));
    for (const flag of [first, second]) await expect.poll(ready(flag), { timeout: 25_000 }).toBe('ok');

    const managerPorts = [await freePort(), await freePort()];
    const manager = (i: number) =>
      at.startSampan(
        `manager-${i}`,
        'controller-manager',
        `--kubeconfig=manager-${i}.kubeconfig`,
        '--root-ca-file=ca.crt',
        `--secure-port=${managerPorts[i]}`,
        '--use-service-account-credentials=true',
      );
    const scheduler = (i: number) =>
      at.startSampan(`scheduler-${i}`, 'scheduler', `--kubeconfig=scheduler-${i}.kubeconfig`, '--secure-port=0');
    const holder = (lease: string) => kubectl('-n', 'kube-system', 'get', 'lease', lease, '-o', 'jsonpath={.spec.holderIdentity}');
    const leading = { manager: manager(0), scheduler: scheduler(0) };
    const leases = ['kube-controller-manager', 'kube-scheduler'];
    for (const lease of leases) await expect.poll(() => holder(lease).catch(() => ''), { timeout: 15_000 }).not.toBe('');
    manager(1);
    scheduler(1);
    const place = ['--root-dir=kubelet', '--healthz-port=0', '--address=127.0.0.1', `--port=${await freePort()}`];
    at.startSampan('kubelet', 'kubelet', '--kubeconfig=node-1.kubeconfig', '--hostname-override=worker', ...place);
    await expect
      .poll(() => at.run('kubectl', [first, 'wait', '--for=condition=Ready', 'node/worker', '--timeout=1s']), { timeout: 20_000 })
      .toMatchObject({ code: 0 });

    const deploy = async (name: string) => {
      writeFileSync(at.path(`${name}.yaml`), DEPLOYMENT(name));
      await at.kubectl(first, 'apply', '-f', at.path(`${name}.yaml`));
      // Writes through one server are visible through the other.
      await kubectl('rollout', 'status', `deployment/${name}`, '--timeout=25s');
    };
    await deploy('before');

    const before = await Promise.all(leases.map(holder));
    // A leader that is stopped releases its lease; the lease of a killed one expires.
    await end(leading.manager, 'SIGTERM');
    await end(leading.scheduler, 'SIGKILL');
    for (const [i, lease] of leases.entries())
      await expect.poll(() => holder(lease), { timeout: 25_000, interval: 250 }).not.toBe(before[i]);
    await deploy('after');
  },
  90_000,
);
