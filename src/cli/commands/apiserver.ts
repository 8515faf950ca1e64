import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { type HttpsKubeletOptions, readEgressSelector } from '#apiserver';
import { childSignal, lookupTable } from '#base';
import { type ApiServerSettings, followCertificates, openEtcd, type ServingCertificates, startStandaloneApiServer } from '#cluster';
import type { EtcdStoreOptions } from '#store';
import { pairInDirectory } from '../certificate-directory.ts';
import type { CliContext } from '../context.ts';
import { APISERVER_FLAGS } from '../flags/apiserver-flags.ts';
import { addLoggingFlags, type LoggingFlags } from '../flags/common-flags.ts';
import { addFlags, durationValue, fileText, flagValue, ipValue, listValue, portValue, settingsFromOptions } from '../flags/flag-table.ts';
import { PemFiles } from '../pem-files.ts';
import { type ComponentDeps, componentDeps, runUntilStopped } from '../run-component.ts';
import { UsageError } from '../usage-error.ts';

interface Options extends LoggingFlags, Record<string, unknown> {
  readonly etcdServers?: string;
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  readonly etcdCompactionInterval?: string;
  readonly kubeletClientCertificate?: string;
  readonly kubeletClientKey?: string;
  readonly kubeletCertificateAuthority?: string;
  readonly kubeletPreferredAddressTypes?: string;
  readonly bindAddress: string;
  readonly securePort: string;
  readonly certDir: string;
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
    .option('--etcd-compaction-interval <duration>', 'how long history is kept; 0 for ever (default: 5m)')
    .option('--kubelet-client-certificate <file>', 'the certificate to show to kubelets')
    .option('--kubelet-client-key <file>', 'the key of that certificate')
    .option('--kubelet-certificate-authority <file>', "the authority of kubelets' certificates")
    .option('--kubelet-preferred-address-types <types>', 'which addresses of nodes to use, in this order, separated by commas')
    .option('--bind-address <address>', 'the address to listen on', '0.0.0.0')
    .option('--secure-port <port>', 'the port to listen on', '6443')
    .option('--tls-cert-file <file>', "the server's certificate (default: one that it makes, in --cert-dir)")
    .option('--tls-private-key-file <file>', 'the key of that certificate')
    .option('--cert-dir <directory>', 'where a certificate that the server makes is kept', '/var/run/kubernetes')
    .option('--client-ca-file <file>', 'the authority of client certificates')
    .option('--service-account-signing-key-file <file>', 'the key that signs service account tokens');
  addFlags(addLoggingFlags(command), APISERVER_FLAGS).action((options: Options) => run(options, context));
}

async function run(options: Options, context: CliContext): Promise<void> {
  const deps = componentDeps(context, options);
  // As upstream: the hostname is the server's identity by default.
  const initial: ApiServerSettings = { hostname: hostname(), aggregation: { routesToEndpoints: false } };
  const settings = settingsFromOptions<ApiServerSettings>(APISERVER_FLAGS, options, { initial, context });
  checkProxyClient(settings);
  const listen = {
    host: flagValue('bind-address', options.bindAddress, ipValue),
    port: flagValue('secure-port', options.securePort, portValue),
  };
  const files = pemFiles(options, { context, deps, settings });
  const readServing = () => ({ ...files.serving(), sniCertificates: settings.tls?.sniCertificates?.() });
  const servingPair = readServing();
  const config = {
    settings,
    listen,
    serving: servingPair,
    clientAuthority: servingPair.clientAuthority,
    serviceAccountKey: files.key('service-account-signing-key-file'),
    kubelets: kubeletOptions(options, context),
  };
  const egress = settings.egressConfig === undefined ? undefined : readEgressSelector(settings.egressConfig, deps);
  await using store = await openEtcd({ ...etcdOptions(options, context), ...deps, dial: egress?.etcd });
  const server = startStandaloneApiServer(config, { ...deps, store, egress }, context.signal);
  using stop = childSignal(context.signal);
  const use = (certificates: ServingCertificates) => server.useCertificates(certificates);
  const following = followCertificates({ current: servingPair, read: readServing, use }, deps, stop.signal);
  try {
    await runUntilStopped(server, 'the API server', deps);
  } catch (error) {
    throw listenFailure(error, listen);
  } finally {
    stop.abort(new DOMException('the server has stopped', 'AbortError'));
    await following;
  }
}

function checkProxyClient({ aggregation }: ApiServerSettings): void {
  const { certificate = '', key = '' } = aggregation?.proxyClient ?? {};
  if ((certificate === '') !== (key === ''))
    throw new UsageError('--proxy-client-cert-file and --proxy-client-key-file are needed together', 'give both, or none');
}

interface ServerPlace {
  readonly context: CliContext;
  readonly deps: ComponentDeps;
  readonly settings: ApiServerSettings;
}

function pemFiles(options: Options, place: ServerPlace): PemFiles {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, serviceAccountSigningKeyFile } = options;
  const isGiven = (tlsCertFile ?? tlsPrivateKeyFile ?? '') !== '';
  const pair = isGiven ? { cert: tlsCertFile, key: tlsPrivateKeyFile } : selfSignedPair(options, place);
  const files = {
    'tls-cert-file': pair.cert,
    'tls-private-key-file': pair.key,
    'client-ca-file': clientCaFile,
    'service-account-signing-key-file': serviceAccountSigningKeyFile,
  };
  return new PemFiles(files, place.context);
}

function selfSignedPair({ certDir, bindAddress }: Options, { context, deps, settings: { advertiseAddress } }: ServerPlace) {
  const address = advertiseAddress ?? bindAddress;
  const subjects = {
    ...{ commonName: `${address}@${Math.floor(deps.clock.now() / 1000)}`, authorityName: `${address}-ca` },
    dnsNames: ['kubernetes.default.svc', 'kubernetes.default', 'kubernetes', 'localhost', hostname()],
    ipAddresses: [...new Set(['127.0.0.1', ...(isIP(address) === 0 ? [] : [address])])],
  };
  return pairInDirectory({ directory: certDir, name: 'apiserver', subjects }, context, deps);
}

const WHY_NOT_LISTEN = lookupTable<string>({
  EADDRINUSE: 'it is in use; choose another with --secure-port',
  EACCES: 'this user may not; choose one above 1023 with --secure-port',
  EADDRNOTAVAIL: 'it is no address of this machine; choose another with --bind-address',
});

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

function etcdOptions(options: Options, context: CliContext): Pick<EtcdStoreOptions, 'endpoints' | 'tls' | 'historyWindowMs'> {
  const endpoints = listValue(options.etcdServers ?? '');
  if (endpoints.length === 0) throw new UsageError('--etcd-servers is needed', 'for example --etcd-servers http://127.0.0.1:2379');
  const read = (file: string | undefined) => (file === undefined ? undefined : readText(file, context));
  const [ca, cert, key] = [read(options.etcdCafile), read(options.etcdCertfile), read(options.etcdKeyfile)];
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return { endpoints, ...historyWindow(options), ...(Object.keys(tls).length > 0 && { tls }) };
}

function historyWindow({ etcdCompactionInterval }: Options): Pick<EtcdStoreOptions, 'historyWindowMs'> {
  if (etcdCompactionInterval === undefined) return {};
  const window = flagValue('etcd-compaction-interval', etcdCompactionInterval, durationValue);
  return { historyWindowMs: window === 0 ? Number.POSITIVE_INFINITY : window };
}
