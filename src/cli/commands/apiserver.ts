import type { Command } from 'commander';
import type { HttpsKubeletOptions } from '#apiserver';
import { childSignal } from '#base';
import { type ApiServerSettings, followCertificates, openEtcd, type ServingCertificates, startStandaloneApiServer } from '#cluster';
import type { EtcdStoreOptions } from '#store';
import type { CliContext } from '../context.ts';
import { APISERVER_FLAGS } from '../flags/apiserver-flags.ts';
import { addFlags, fileText, listValue, settingsFromOptions } from '../flags/flag-table.ts';
import { PemFiles } from '../pem-files.ts';
import { componentDeps, runUntilStopped } from '../run-component.ts';
import { UsageError } from '../usage-error.ts';

interface Options extends Record<string, unknown> {
  readonly etcdServers?: string;
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  readonly etcdPrefix: string;
  readonly kubeletClientCertificate?: string;
  readonly kubeletClientKey?: string;
  readonly kubeletCertificateAuthority?: string;
  readonly kubeletPreferredAddressTypes?: string;
  readonly bindAddress: string;
  readonly securePort: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly clientCaFile?: string;
  readonly serviceAccountSigningKeyFile?: string;
}

export function configureApiserver(command: Command, context: CliContext): void {
  command
    .option('--etcd-servers <urls>', 'the members of the etcd cluster, separated by commas')
    .option('--etcd-cafile <file>', 'the authority of the members of etcd')
    .option('--etcd-certfile <file>', 'the certificate to show to etcd')
    .option('--etcd-keyfile <file>', 'the key of that certificate')
    .option('--etcd-prefix <prefix>', 'what keys in etcd begin with; other than /registry, it stands before it', '/registry')
    .option('--kubelet-client-certificate <file>', 'the certificate to show to kubelets')
    .option('--kubelet-client-key <file>', 'the key of that certificate')
    .option('--kubelet-certificate-authority <file>', "the authority of kubelets' certificates")
    .option('--kubelet-preferred-address-types <types>', 'which addresses of nodes to use, in this order, separated by commas')
    .option('--bind-address <address>', 'the address to listen on', '0.0.0.0')
    .option('--secure-port <port>', 'the port to listen on', '6443')
    .option('--tls-cert-file <file>', "the server's certificate")
    .option('--tls-private-key-file <file>', 'the key of that certificate')
    .option('--client-ca-file <file>', 'the authority of client certificates')
    .option('--service-account-signing-key-file <file>', 'the key that signs service account tokens');
  addFlags(command, APISERVER_FLAGS).action((options: Options) => run(options, context));
}

async function run(options: Options, context: CliContext): Promise<void> {
  const deps = componentDeps(context);
  const settings = settingsFromOptions<ApiServerSettings>(APISERVER_FLAGS, options, { initial: {}, context });
  const listen = { host: options.bindAddress, port: portOf(options.securePort) };
  const files = pemFiles(options, context);
  const serving = files.serving();
  const config = {
    settings,
    listen,
    serving,
    clientAuthority: serving.clientAuthority,
    serviceAccountKey: files.key('service-account-signing-key-file'),
    kubelets: kubeletOptions(options, context),
  };
  await using store = await openEtcd({ ...etcdOptions(options, context), ...deps });
  const server = startStandaloneApiServer(config, { ...deps, store }, context.signal);
  using stop = childSignal(context.signal);
  const use = (found: ServingCertificates) => server.useCertificate(tlsOf(found, settings));
  const following = followCertificates({ current: serving, read: () => files.serving(), use }, deps, stop.signal);
  try {
    await runUntilStopped(server, 'the API server', deps);
  } catch (error) {
    throw listenFailure(error, listen);
  } finally {
    stop.abort(new DOMException('the server has stopped', 'AbortError'));
    await following;
  }
}

function pemFiles(options: Options, context: CliContext): PemFiles {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, serviceAccountSigningKeyFile } = options;
  const files = {
    'tls-cert-file': tlsCertFile,
    'tls-private-key-file': tlsPrivateKeyFile,
    'client-ca-file': clientCaFile,
    'service-account-signing-key-file': serviceAccountSigningKeyFile,
  };
  return new PemFiles(files, context);
}

function tlsOf({ certificate: cert, key, clientAuthority: ca }: ServingCertificates, { tls }: ApiServerSettings) {
  return { ...tls, cert, key, ca };
}

const WHY_NOT_LISTEN: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use; choose another with --secure-port',
  EACCES: 'this user may not; choose one above 1023 with --secure-port',
  EADDRNOTAVAIL: 'it is no address of this machine; choose another with --bind-address',
};

function listenFailure(error: unknown, { host, port }: { readonly host: string; readonly port: number }): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall !== 'listen') return error;
  return new Error(`cannot listen on ${host}, port ${port} (${code}): ${WHY_NOT_LISTEN[code] ?? (error as Error).message}`);
}

function kubeletOptions(options: Options, context: CliContext): HttpsKubeletOptions {
  const { kubeletClientCertificate: certificate, kubeletClientKey: key, kubeletCertificateAuthority: authority } = options;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new UsageError('--kubelet-client-certificate and --kubelet-client-key are needed together', 'give both, or none');
  }
  const types = listValue(options.kubeletPreferredAddressTypes ?? '');
  return {
    ...(certificate && { clientCertificate: readText(certificate, context) }),
    ...(key && { clientKey: readText(key, context) }),
    ...(authority && { authority: readText(authority, context) }),
    ...(types.length > 0 && { preferredAddressTypes: types }),
  };
}

function readText(file: string, context: CliContext): string {
  try {
    return fileText(file, context);
  } catch (error) {
    throw new UsageError((error as Error).message, 'check the path and its permissions');
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) throw new UsageError(`'${text}' is no port`, 'give a number from 0 to 65535');
  return port;
}

function etcdOptions(options: Options, context: CliContext): Pick<EtcdStoreOptions, 'endpoints' | 'tls' | 'prefix'> {
  const endpoints = listValue(options.etcdServers ?? '');
  if (endpoints.length === 0) throw new UsageError('--etcd-servers is needed', 'for example --etcd-servers http://127.0.0.1:2379');
  const read = (file: string | undefined) => (file === undefined ? undefined : readText(file, context));
  const [ca, cert, key] = [read(options.etcdCafile), read(options.etcdCertfile), read(options.etcdKeyfile)];
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return { endpoints, ...etcdPrefix(options.etcdPrefix), ...(Object.keys(tls).length > 0 && { tls }) };
}

/** Keys begin with /registry by themselves; another prefix comes before it, so that several clusters can share etcd. */
function etcdPrefix(prefix: string): { readonly prefix?: string } {
  return prefix === '/registry' ? {} : { prefix: `/${prefix.replace(/^\/+|\/+$/g, '')}` };
}
