import path from 'node:path';
import type { DataDirectory } from './data-directory.ts';
import { CLIENTS, type ClientName, type ClusterPki, type PkiOptions, renewPki } from './pki.ts';

const PUBLIC = 0o644;

/** The names of the files, as kubeadm has them. */
const CLIENT_FILES: Readonly<Record<ClientName, string>> = {
  admin: 'admin',
  controllerManager: 'controller-manager',
  scheduler: 'scheduler',
  proxy: 'kube-proxy',
  kubeletClient: 'apiserver-kubelet-client',
};

/** What the directory holds, with what is missing or about to end made anew and written back. */
export async function loadPki(directory: DataDirectory, options: PkiOptions): Promise<ClusterPki> {
  const current = await readPki(directory);
  const renewed = await renewPki(current, options);
  await writePki(directory, renewed, current);
  return renewed;
}

async function readPki(directory: DataDirectory): Promise<Partial<ClusterPki>> {
  const pair = async (name: string) => {
    const [certificate, key] = await Promise.all([read(directory, `${name}.crt`), read(directory, `${name}.key`)]);
    return certificate === undefined || key === undefined ? undefined : { certificate, key };
  };
  const authority = await pair('ca');
  const serving = await pair('apiserver');
  const serviceAccountKey = await read(directory, 'sa.key');
  const names = Object.keys(CLIENTS) as ClientName[];
  const pairs = await Promise.all(names.map(async (name) => [name, await pair(CLIENT_FILES[name])] as const));
  const isWhole = pairs.every(([, found]) => found !== undefined);
  return {
    ...(authority && { authority }),
    ...(serving && { serving }),
    ...(serviceAccountKey && { serviceAccountKey }),
    ...(isWhole && { clients: Object.fromEntries(pairs) as unknown as ClusterPki['clients'] }),
  };
}

function read(directory: DataDirectory, name: string): Promise<string | undefined> {
  return directory.read(path.join(directory.pki, name));
}

async function writePki(directory: DataDirectory, pki: ClusterPki, before: Partial<ClusterPki>): Promise<void> {
  const write = (name: string, text: string, mode?: number) => directory.write(path.join(directory.pki, name), text, mode);
  const pair = async (name: string, { certificate, key }: { certificate: string; key: string }) => {
    await write(`${name}.key`, key);
    await write(`${name}.crt`, certificate, PUBLIC);
  };
  if (pki.serviceAccountKey !== before.serviceAccountKey) await write('sa.key', pki.serviceAccountKey);
  if (pki.authority.certificate !== before.authority?.certificate) await pair('ca', pki.authority);
  if (pki.serving.certificate !== before.serving?.certificate) await pair('apiserver', pki.serving);
  for (const [name, file] of Object.entries(CLIENT_FILES) as [ClientName, string][]) {
    if (pki.clients[name].certificate !== before.clients?.[name].certificate) await pair(file, pki.clients[name]);
  }
}
