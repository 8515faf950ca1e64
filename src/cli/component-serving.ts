import { hostname } from 'node:os';
import { childSignal, createSelfSigned, type SniCertificate } from '#base';
import { type Client, type ComponentCertificates, core, type LeaderHealth, startComponentServer } from '#client';
import { followCertificates, versionInfo } from '#cluster';
import { pairInDirectory } from './certificate-directory.ts';
import type { CliContext } from './context.ts';
import { settingsFromOptions } from './flags/flag-table.ts';
import { SERVING_FLAGS, type ServingSettings } from './flags/serving-flags.ts';
import { PemFiles } from './pem-files.ts';
import { type ClientFlags, type ComponentDeps, clientFrom } from './run-component.ts';

export interface ServedComponent {
  /** Upstream's name of the program: `kube-scheduler`. */
  readonly name: string;
  readonly defaultPort: number;
  readonly client: Client;
  readonly configuration: () => Readonly<Record<string, unknown>>;
  readonly leaderHealth: LeaderHealth;
}

interface Place {
  readonly context: CliContext;
  readonly deps: ComponentDeps;
}

/** Serves health, metrics and configuration of a standalone component on its secure port. Resolves when it listens; dispose it to stop. */
export async function serveComponent(
  component: ServedComponent,
  options: ClientFlags & Readonly<Record<string, unknown>>,
  place: Place,
): Promise<AsyncDisposable | undefined> {
  const settings = settingsFromOptions<ServingSettings>(SERVING_FLAGS, options, { initial: {}, context: place.context });
  const { bindAddress: host = '0.0.0.0', securePort: port = component.defaultPort, alwaysAllowPaths, times } = settings;
  if (port === 0) return undefined;
  const certificates = await servingCertificates(settings, component, place);
  const { ciphers, curves, minVersion, sniCertificates } = settings;
  const tls = {
    ...certificates.current,
    ...(ciphers && { ciphers }),
    ...(curves && { curves }),
    ...(minVersion && { minVersion }),
    ...(sniCertificates && { sniCertificates }),
  };
  const config = { name: component.name, host, port, tls, ...(alwaysAllowPaths && { alwaysAllowPaths }), ...(times && { times }) };
  const reviewers = await reviewClients(component, { settings, options, place });
  const server = startComponentServer(config, {
    ...place.deps,
    ...reviewers.clients,
    checks: { leaderElection: () => component.leaderHealth.problem() },
    configuration: component.configuration,
    flags: () => explicitFlags(options),
    version: versionInfo().gitVersion!,
  });
  const stop = childSignal(place.context.signal);
  const following = followCertificates({ ...certificates, use: (renewed) => server.use(renewed) }, place.deps, stop.signal);
  const dispose = async () => {
    stop.abort(new DOMException('the server has stopped', 'AbortError'));
    await following;
    stop[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
    for (const client of reviewers.own) await client[Symbol.asyncDispose]();
  };
  try {
    await server.ready;
  } catch (error) {
    await dispose().catch(() => {});
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`cannot listen on ${host}, port ${port} (${code}): choose another with --secure-port, or none with --secure-port 0`);
  }
  return { [Symbol.asyncDispose]: dispose };
}

interface Reviews {
  readonly settings: ServingSettings;
  readonly options: ClientFlags;
  readonly place: Place;
}

/** The clients for TokenReviews and SubjectAccessReviews; `own` are those to dispose. */
async function reviewClients({ name, client }: ServedComponent, { settings, options, place }: Reviews) {
  const own: Client[] = [];
  const from = async (kubeconfig: string | undefined) => {
    if (kubeconfig === undefined || kubeconfig === options.kubeconfig) return client;
    const reviewer = await clientFrom({ kubeconfig }, name, place);
    own.push(reviewer);
    return reviewer;
  };
  const { authenticationKubeconfig, authorizationKubeconfig } = settings;
  return { own, clients: { client: await from(authenticationKubeconfig), accessClient: await from(authorizationKubeconfig) } };
}

interface FollowedCertificates extends ComponentCertificates {
  /** Certificates of names; the server reads them by its settings. */
  readonly named?: readonly SniCertificate[] | undefined;
}

interface CertificateSource {
  readonly current: FollowedCertificates;
  /** Reads the files that flags name. */
  readonly read: () => FollowedCertificates;
}

async function servingCertificates(
  settings: ServingSettings,
  component: ServedComponent,
  { context, deps }: Place,
): Promise<CertificateSource> {
  const { certFile, keyFile, clientCaFile, certDirectory } = settings;
  const { name } = component;
  const subjects = { commonName: name, authorityName: `${name}-ca`, dnsNames: [hostname(), 'localhost'], ipAddresses: ['127.0.0.1'] };
  const hasFiles = certFile !== undefined || keyFile !== undefined;
  const keptPair =
    hasFiles || certDirectory === undefined ? undefined : pairInDirectory({ directory: certDirectory, name, subjects }, context, deps);
  const own = hasFiles || keptPair ? undefined : createSelfSigned(subjects, deps);
  const pair = { 'tls-cert-file': keptPair?.cert ?? certFile, 'tls-private-key-file': keptPair?.key ?? keyFile };
  const files = new PemFiles({ ...pair, 'client-ca-file': clientCaFile }, context);
  const published = clientCaFile === undefined ? await lookUpAuthority(settings, component, deps) : undefined;
  const read = () => {
    const clientCa = clientCaFile === undefined ? published : files.certificate('client-ca-file');
    return { ...(own ?? files.pair()), ...(clientCa && { clientCa }), named: settings.sniCertificates?.() };
  };
  return { current: read(), read };
}

/** The ConfigMap with the API servers' client CAs. */
const AUTHENTICATION = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

async function lookUpAuthority(
  { skipLookup }: ServingSettings,
  { client }: ServedComponent,
  deps: ComponentDeps,
): Promise<string | undefined> {
  if (skipLookup) return undefined;
  try {
    const { data } = await client.of(core.ConfigMap).get(AUTHENTICATION);
    return data?.['client-ca-file'];
  } catch (error) {
    deps.logger.warn('client certificates are not accepted: the authority could not be looked up', { ...AUTHENTICATION, error });
    return undefined;
  }
}

/** The flags of a command line, by upstream's names: file names, never contents. */
export function explicitFlags(options: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return new Map(entries.map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), String(value)]));
}
