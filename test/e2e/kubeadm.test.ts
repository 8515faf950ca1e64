import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { expect, test } from 'vitest';
import {
  createAuthority,
  type KeyPair,
  loadAuthority,
  newPrivateKey,
  privateKeyPem,
  realClock,
  signCertificate,
  systemRandom,
} from '#base';
import { type ClusterPki, createPki, renderKubeconfig } from '#cluster';
import { freePort } from '../../src/store/contract/free-port.ts';
import { Workplace } from './sampan-process.ts';

// The static pods that `kubeadm init` of v1.36 writes, with other paths and ports.

const hasEtcd = spawnSync('etcd', ['--version']).status === 0;
const DAY_MS = 86_400_000;
const validity = { notBefore: realClock.now() - DAY_MS, notAfter: realClock.now() + DAY_MS };

interface Ports {
  readonly server: number;
  readonly manager: number;
  readonly scheduler: number;
  readonly etcd: number;
  readonly peer: number;
}

const API_SERVER = (pki: string, { server, etcd }: Ports) => [
  '--advertise-address=192.0.2.1',
  '--allow-privileged=true',
  '--authorization-mode=Node,RBAC',
  `--client-ca-file=${pki}/ca.crt`,
  '--enable-admission-plugins=NodeRestriction',
  '--enable-bootstrap-token-auth=true',
  `--etcd-cafile=${pki}/etcd/ca.crt`,
  `--etcd-certfile=${pki}/apiserver-etcd-client.crt`,
  `--etcd-keyfile=${pki}/apiserver-etcd-client.key`,
  `--etcd-servers=https://127.0.0.1:${etcd}`,
  `--kubelet-client-certificate=${pki}/apiserver-kubelet-client.crt`,
  `--kubelet-client-key=${pki}/apiserver-kubelet-client.key`,
  '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
  `--proxy-client-cert-file=${pki}/front-proxy-client.crt`,
  `--proxy-client-key-file=${pki}/front-proxy-client.key`,
  '--requestheader-allowed-names=front-proxy-client',
  `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-username-headers=X-Remote-User',
  `--secure-port=${server}`,
  '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
  `--service-account-key-file=${pki}/sa.pub`,
  `--service-account-signing-key-file=${pki}/sa.key`,
  '--service-cluster-ip-range=10.96.0.0/12',
  `--tls-cert-file=${pki}/apiserver.crt`,
  `--tls-private-key-file=${pki}/apiserver.key`,
];

const CONTROLLER_MANAGER = (pki: string, signing: string) => [
  '--allocate-node-cidrs=true',
  '--authentication-kubeconfig=controller-manager.conf',
  '--authorization-kubeconfig=controller-manager.conf',
  '--bind-address=127.0.0.1',
  `--client-ca-file=${pki}/ca.crt`,
  '--cluster-cidr=10.244.0.0/16',
  '--cluster-name=kubernetes',
  `--cluster-signing-cert-file=${signing && `${signing}.crt`}`,
  `--cluster-signing-key-file=${signing && `${signing}.key`}`,
  '--controllers=*,bootstrapsigner,tokencleaner',
  '--kubeconfig=controller-manager.conf',
  '--leader-elect=true',
  `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
  `--root-ca-file=${pki}/ca.crt`,
  `--service-account-private-key-file=${pki}/sa.key`,
  '--service-cluster-ip-range=10.96.0.0/12',
  '--use-service-account-credentials=true',
];

const SCHEDULER = [
  '--authentication-kubeconfig=scheduler.conf',
  '--authorization-kubeconfig=scheduler.conf',
  '--bind-address=127.0.0.1',
  '--kubeconfig=scheduler.conf',
  '--leader-elect=true',
];

/** A separate CA for etcd, etcd's certificate, and a client certificate. */
function etcdPki() {
  const authority = createAuthority({ subject: { commonName: 'etcd-ca' }, ...validity }, systemRandom);
  const pair = (commonName: string, addresses: readonly string[]): KeyPair => {
    const key = newPrivateKey();
    const template = { subject: { commonName }, publicKey: createPublicKey(key), ...validity, ipAddresses: addresses };
    return { certificate: signCertificate(template, loadAuthority(authority), systemRandom), key: privateKeyPem(key) };
  };
  return { authority, server: pair('localhost', ['127.0.0.1']), client: pair('kube-apiserver-etcd-client', []) };
}

async function writePki(at: Workplace): Promise<ClusterPki> {
  const pki = await createPki({ now: realClock.now(), random: systemRandom, names: { ipAddresses: ['127.0.0.1'] } });
  const etcd = etcdPki();
  const pairs: Readonly<Record<string, KeyPair>> = {
    ...{ ca: pki.authority, apiserver: pki.serving, 'apiserver-kubelet-client': pki.clients.kubeletClient },
    ...{ 'front-proxy-ca': pki.frontProxy.authority, 'front-proxy-client': pki.frontProxy.client },
    ...{ 'apiserver-etcd-client': etcd.client, 'etcd/ca': etcd.authority, 'etcd/server': etcd.server },
  };
  mkdirSync(at.path('pki/etcd'), { recursive: true });
  for (const [name, { certificate, key }] of Object.entries(pairs)) {
    writeFileSync(at.path(`pki/${name}.crt`), certificate);
    writeFileSync(at.path(`pki/${name}.key`), key);
  }
  writeFileSync(at.path('pki/sa.key'), pki.serviceAccountKey);
  writeFileSync(at.path('pki/sa.pub'), createPublicKey(pki.serviceAccountKey).export({ type: 'spki', format: 'pem' }));
  return pki;
}

function writeKubeconfigs(at: Workplace, { authority, clients }: ClusterPki, port: number): void {
  const users = { admin: clients.admin, 'controller-manager': clients.controllerManager, scheduler: clients.scheduler };
  const access = { clusterName: 'kubernetes', server: `https://127.0.0.1:${port}`, caCertificate: authority.certificate };
  for (const [user, { certificate: clientCertificate, key: clientKey }] of Object.entries(users))
    writeFileSync(at.path(`${user}.conf`), renderKubeconfig({ ...access, clientCertificate, clientKey }));
}

function startEtcd(at: Workplace, { etcd, peer }: Ports): void {
  const url = `https://127.0.0.1:${etcd}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  at.start('etcd', 'etcd', [
    ...[`--data-dir=${at.path('etcd')}`, `--listen-client-urls=${url}`, `--advertise-client-urls=${url}`],
    ...['--cert-file=pki/etcd/server.crt', '--key-file=pki/etcd/server.key', '--client-cert-auth', '--trusted-ca-file=pki/etcd/ca.crt'],
    ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`, `--initial-cluster=default=${peerUrl}`],
  ]);
}

/** What the static pod's probe gets: the kubelet sends no credentials, and does not verify the certificate. */
function probe(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = https.get({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', () => resolve(undefined));
  });
}

async function startPods(at: Workplace, signing: string): Promise<(...args: string[]) => Promise<string>> {
  const [server = 0, manager = 0, scheduler = 0, etcd = 0, peer = 0] = await Promise.all(Array.from({ length: 5 }, () => freePort()));
  const ports = { server, manager, scheduler, etcd, peer };
  writeKubeconfigs(at, await writePki(at), server);
  startEtcd(at, ports);
  const healthy = (port: number, path: string) => expect.poll(() => probe(port, path), { timeout: 30_000 }).toBe(200);
  at.startSampan('apiserver', 'apiserver', ...API_SERVER('pki', ports));
  for (const path of ['/livez', '/readyz']) await healthy(server, path);
  at.startSampan('manager', 'controller-manager', ...CONTROLLER_MANAGER('pki', signing), `--secure-port=${manager}`);
  at.startSampan('scheduler', 'scheduler', ...SCHEDULER, `--secure-port=${scheduler}`);
  await healthy(manager, '/healthz');
  for (const path of ['/livez', '/readyz']) await healthy(scheduler, path);
  return (...args) => at.kubectl('--kubeconfig=admin.conf', ...args);
}

const NODE = 'apiVersion: v1\nkind: Node\nmetadata: { name: first }\nstatus: { capacity: { pods: "9" }, allocatable: { pods: "9" } }\n';

test.runIf(hasEtcd)(
  "kubeadm's static pods start, give nodes their ranges and schedule pods",
  async () => {
    await using at = new Workplace();
    const kubectl = await startPods(at, 'pki/ca');
    writeFileSync(at.path('node.yaml'), NODE);
    await kubectl('apply', '-f', 'node.yaml');
    const field = (path: string, ...object: string[]) => kubectl('get', ...object, '-o', `jsonpath={${path}}`);
    await expect.poll(() => field('.spec.podCIDR', 'node', 'first'), { timeout: 20_000 }).toBe('10.244.0.0/24');
    await expect.poll(() => kubectl('get', 'serviceaccount', 'default', '-o', 'name').catch(() => ''), { timeout: 20_000 }).not.toBe('');
    await kubectl('create', 'deployment', 'web', '--image=web');
    await expect.poll(() => field('.items[*].spec.nodeName', 'pods'), { timeout: 20_000 }).toBe('first');
    expect(at.log('apiserver') + at.log('manager') + at.log('scheduler')).not.toMatch(/unknown (option|flag)/);
  },
  120_000,
);

test.runIf(hasEtcd)(
  'with an external CA, of which kubeadm has no key, certificates are left unsigned',
  async () => {
    await using at = new Workplace();
    const kubectl = await startPods(at, '');
    await expect.poll(() => kubectl('get', 'serviceaccount', 'default', '-o', 'name').catch(() => ''), { timeout: 20_000 }).not.toBe('');
  },
  90_000,
);
