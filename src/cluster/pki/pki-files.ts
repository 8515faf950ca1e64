import { createPrivateKey, X509Certificate } from 'node:crypto';
import path from 'node:path';
import type { DataDirectory } from '../data/data-directory.ts';
import {
  CLIENTS,
  type ClientName,
  type ClusterCertificates,
  type ClusterPki,
  createServiceAccountKey,
  type PkiOptions,
  renewedCertificates,
} from './pki.ts';

const PUBLIC = 0o644;

/** kubeadm's file names. */
const CLIENT_FILES: Readonly<Record<ClientName, string>> = {
  admin: 'admin',
  controllerManager: 'controller-manager',
  scheduler: 'scheduler',
  proxy: 'kube-proxy',
  kubeletClient: 'apiserver-kubelet-client',
};

/** Loads the PKI; creates and saves what is missing or about to expire. */
export async function loadPki(directory: DataDirectory, options: PkiOptions): Promise<ClusterPki> {
  const { serviceAccountKey = newServiceAccountKey(directory), ...current } = await readPki(directory);
  const renewed = renewedCertificates(current, options);
  await writeCertificates(directory, renewed, current);
  return { ...renewed, serviceAccountKey };
}

/** Saved before its first use: otherwise tokens would be invalid after a restart. Failures are retried. */
function newServiceAccountKey(directory: DataDirectory): () => Promise<string> {
  let keyText: Promise<string> | undefined;
  const make = async () => {
    const key = await createServiceAccountKey();
    await directory.write(path.join(directory.pki, 'sa.key'), key);
    return key;
  };
  return () => {
    keyText ??= make().catch((error: unknown) => {
      keyText = undefined;
      throw error;
    });
    return keyText;
  };
}

async function readPki(directory: DataDirectory): Promise<Partial<ClusterPki>> {
  const pair = async (name: string) => {
    const [certificate, key] = await Promise.all([read(directory, `${name}.crt`), read(directory, `${name}.key`)]);
    if (certificate === undefined || key === undefined) return undefined;
    const parsed = parsedFrom(directory, `${name}.crt`, () => new X509Certificate(certificate));
    if (!parsed.checkPrivateKey(parsedFrom(directory, `${name}.key`, () => createPrivateKey(key)))) {
      const [first, second] = [`${name}.crt`, `${name}.key`].map((file) => path.join(directory.pki, file));
      throw new Error(`${first} does not belong to ${second}; restore the two, or delete both to have them made anew`);
    }
    return { certificate, key };
  };
  const [authority, serving, serviceAccountKey] = await Promise.all([pair('ca'), pair('apiserver'), read(directory, 'sa.key')]);
  if (serviceAccountKey !== undefined) parsedFrom(directory, 'sa.key', () => createPrivateKey(serviceAccountKey));
  const names = Object.keys(CLIENTS) as ClientName[];
  const pairs = await Promise.all(names.map(async (name) => [name, await pair(CLIENT_FILES[name])] as const));
  const isWhole = pairs.every(([, content]) => content !== undefined);
  const [frontProxyAuthority, frontProxyClient] = await Promise.all([pair('front-proxy-ca'), pair('front-proxy-client')]);
  return {
    ...(authority && { authority }),
    ...(serving && { serving }),
    ...(serviceAccountKey && { serviceAccountKey }),
    ...(isWhole && { clients: Object.fromEntries(pairs) as unknown as ClusterPki['clients'] }),
    ...(frontProxyAuthority && frontProxyClient && { frontProxy: { authority: frontProxyAuthority, client: frontProxyClient } }),
  };
}

/** Damaged files are never replaced: they may be restorable. */
function parsedFrom<T>(directory: DataDirectory, name: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    const file = path.join(directory.pki, name);
    const noun = name.endsWith('.key') ? 'private key' : 'certificate';
    throw new Error(`${file} is damaged: it holds no ${noun}; restore it, or delete it to have a new one made`);
  }
}

function read(directory: DataDirectory, name: string): Promise<string | undefined> {
  return directory.read(path.join(directory.pki, name));
}

async function writeCertificates(directory: DataDirectory, pki: ClusterCertificates, before: Partial<ClusterCertificates>): Promise<void> {
  const write = (name: string, text: string, mode?: number) => directory.write(path.join(directory.pki, name), text, mode);
  const pair = async (name: string, { certificate, key }: { certificate: string; key: string }) => {
    await write(`${name}.key`, key);
    await write(`${name}.crt`, certificate, PUBLIC);
  };
  const writes: Promise<void>[] = [];
  if (pki.authority.certificate !== before.authority?.certificate) writes.push(pair('ca', pki.authority));
  if (pki.serving.certificate !== before.serving?.certificate) writes.push(pair('apiserver', pki.serving));
  const { frontProxy } = pki;
  if (frontProxy.authority.certificate !== before.frontProxy?.authority.certificate)
    writes.push(pair('front-proxy-ca', frontProxy.authority));
  if (frontProxy.client.certificate !== before.frontProxy?.client.certificate) writes.push(pair('front-proxy-client', frontProxy.client));
  for (const [name, file] of Object.entries(CLIENT_FILES) as [ClientName, string][]) {
    if (pki.clients[name].certificate !== before.clients?.[name].certificate) writes.push(pair(file, pki.clients[name]));
  }
  await Promise.all(writes);
}
