import { createPrivateKey, type KeyObject } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Clock, type Logger, newPrivateKey, privateKeyPem } from '#base';
import { Client, type ConnectionConfig, httpsTransport, loadConnection } from '#client';
import { encodeYaml } from '#machinery';
import { CertificateFiles, validityOf } from './certificate-files.ts';
import { CLIENT_SIGNER, requestCertificate } from './request-certificate.ts';

export interface Bootstrap {
  readonly nodeName: string;
  /** As `--kubeconfig`: written with the certificate once it is issued. */
  readonly kubeconfig: string;
  /** As `--bootstrap-kubeconfig`: the credentials until then. */
  readonly bootstrapKubeconfig: string;
  /** As `--cert-dir`. */
  readonly certDirectory: string;
}

export interface BootstrapDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

const ASK_MS = 3_600_000;

/** Obtains the kubelet's first client certificate and kubeconfig, unless it has a valid one. Rejects when the request is not approved within an hour. */
export async function bootstrapClient(bootstrap: Bootstrap, deps: BootstrapDeps, signal: AbortSignal): Promise<void> {
  const { nodeName, kubeconfig, bootstrapKubeconfig, certDirectory } = bootstrap;
  if (await isStillValid(kubeconfig, deps.clock)) return;
  const { connection } = await loadConnection({ path: bootstrapKubeconfig }).catch((cause: Error) => {
    throw new Error(`unable to load bootstrap kubeconfig: ${cause.message}`, { cause });
  });
  const keyFile = join(certDirectory, 'kubelet-client.key.tmp');
  const key = await loadOrMakeKey(keyFile);
  deps.logger.info('requesting a client certificate with the bootstrap credentials', { signer: CLIENT_SIGNER });
  await using client = new Client(httpsTransport(connection, deps, { userAgent: 'kubelet' }));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]);
  const cert = await requestCertificate({ nodeName, signerName: CLIENT_SIGNER, key }, { ...deps, client }, limit);
  const files = new CertificateFiles(certDirectory, 'kubelet-client');
  await files.store({ cert, key: privateKeyPem(key) }, deps.clock.now());
  await rm(keyFile, { force: true });
  await writeKubeconfig(kubeconfig, connection, files.currentPath);
}

async function isStillValid(kubeconfig: string, clock: Clock): Promise<boolean> {
  try {
    await access(kubeconfig);
    const { connection } = await loadConnection({ path: kubeconfig });
    const { cert } = connection.credentials ?? {};
    return cert !== undefined && validityOf(cert).toMs > clock.now();
  } catch {
    return false;
  }
}

/** Kept until the certificate is issued: a restarted kubelet requests the same certificate. */
async function loadOrMakeKey(file: string): Promise<KeyObject> {
  try {
    return createPrivateKey(await readFile(file, 'utf8'));
  } catch {
    const key = newPrivateKey();
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await writeFile(file, privateKeyPem(key), { mode: 0o600 });
    return key;
  }
}

async function writeKubeconfig(file: string, { server, ca, insecureSkipTlsVerify }: ConnectionConfig, pem: string): Promise<void> {
  const cluster = {
    server,
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default-cluster', cluster }],
    users: [{ name: 'default-auth', user: { 'client-certificate': pem, 'client-key': pem } }],
    contexts: [{ name: 'default-context', context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' } }],
    'current-context': 'default-context',
  };
  await mkdir(dirname(file), { recursive: true, mode: 0o755 });
  await writeFile(file, encodeYaml(config), { mode: 0o600 });
}
