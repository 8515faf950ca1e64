import { createPublicKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type AlternativeNames,
  type Authority,
  createAuthority,
  type ExtendedKeyUsage,
  type KeyPair,
  loadAuthority,
  minOf,
  newPrivateKey,
  privateKeyPem,
  type Random,
  type Subject,
  signCertificate,
} from '#base';

/** The certificates and keys of a cluster, in PEM. Functions here create them; storage is up to the caller. */
export interface ClusterCertificates {
  /** The CA of all other certificates. */
  readonly authority: KeyPair;
  /** The API server's own. */
  readonly serving: KeyPair;
  /** Client certificates by user. */
  readonly clients: Readonly<Record<ClientName, KeyPair>>;
  /** The API server's client certificate for aggregated APIs. Its CA signs nothing else, since it can impersonate users. */
  readonly frontProxy: { readonly authority: KeyPair; readonly client: KeyPair };
}

export interface ClusterPki extends ClusterCertificates {
  /** Signs service account tokens. RSA, because all verifiers support it; created lazily, because it takes a while. */
  readonly serviceAccountKey: string | (() => Promise<string>);
}

/** Clients of the API server and their identities. */
export const CLIENTS = {
  admin: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
  controllerManager: { commonName: 'system:kube-controller-manager' },
  scheduler: { commonName: 'system:kube-scheduler' },
  proxy: { commonName: 'system:kube-proxy' },
  /** The API server as a client of kubelets. */
  kubeletClient: { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] },
} as const satisfies Record<string, Subject>;

export type ClientName = keyof typeof CLIENTS;

/** The API server as a client of aggregated APIs. */
export const FRONT_PROXY_CLIENT = 'front-proxy-client';

/** The identity of a node. */
export function nodeSubject(name: string): Subject {
  return { commonName: `system:node:${name}`, organizations: ['system:nodes'] };
}

export interface PkiOptions {
  /** Additional names and addresses of the API server. */
  readonly names: AlternativeNames;
  /** Default cluster.local. */
  readonly clusterDomain?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly random: Random;
}

const DAY_MS = 24 * 3_600_000;
const AUTHORITY_MS = 10 * 365 * DAY_MS;
const CERTIFICATE_MS = 365 * DAY_MS;
/** Tolerates clock skew. */
const BACKDATE_MS = 5 * 60_000;
/** Certificates are renewed this long before they expire; renewing the CA renews all. */
const RENEW_BEFORE_MS = 90 * DAY_MS;

export async function createPki(options: PkiOptions): Promise<ClusterPki & { readonly serviceAccountKey: string }> {
  return { ...renewedCertificates({}, options), serviceAccountKey: await createServiceAccountKey() };
}

/** Renews certificates that are missing, expire soon, lack a name or have another issuer. */
export function renewedCertificates(current: Partial<ClusterCertificates>, options: PkiOptions): ClusterCertificates {
  const authority = renewAuthority(current.authority, 'kubernetes', options);
  const issuing = { ...options, ...issuerOf(authority) };
  const clients = Object.entries(CLIENTS).map(([name, subject]) => {
    const before = current.clients?.[name as ClientName];
    return [name, renewCertificate(before, clientRequest(subject), issuing)];
  });
  return {
    authority,
    serving: renewCertificate(current.serving, servingRequest(options), issuing),
    clients: Object.fromEntries(clients) as Record<ClientName, KeyPair>,
    frontProxy: renewFrontProxy(current.frontProxy, options),
  };
}

function renewFrontProxy(current: Partial<ClusterCertificates['frontProxy']> | undefined, options: PkiOptions) {
  const authority = renewAuthority(current?.authority, 'front-proxy-ca', options);
  const issuing = { ...options, ...issuerOf(authority) };
  return { authority, client: renewCertificate(current?.client, clientRequest({ commonName: FRONT_PROXY_CLIENT }), issuing) };
}

/** A client certificate signed by the cluster's CA. */
export function createClientCertificate(subject: Subject, authority: KeyPair, options: Pick<PkiOptions, 'now' | 'random'>): KeyPair {
  return issue(clientRequest(subject), { ...options, ...issuerOf(authority) });
}

/** A node's serving certificate signed by the cluster's CA, and the time of its renewal. */
export function createNodeServingCertificate(
  { nodeName, ipAddresses }: { readonly nodeName: string; readonly ipAddresses: readonly string[] },
  authority: KeyPair,
  options: Pick<PkiOptions, 'now' | 'random'>,
): KeyPair & { readonly renewAt: number } {
  const profile = { subject: nodeSubject(nodeName), purpose: 'serverAuth' as const, dnsNames: [nodeName], ipAddresses };
  const pair = issue(profile, { ...options, ...issuerOf(authority) });
  return { ...pair, renewAt: Date.parse(new X509Certificate(pair.certificate).validTo) - RENEW_BEFORE_MS };
}

/** Asynchronous: generating RSA keys is slow. */
export async function createServiceAccountKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return privateKeyPem(privateKey);
}

/** The time of the first renewal, in milliseconds since the epoch. */
export function renewalTime({ authority, serving, clients, frontProxy }: ClusterCertificates): number {
  const pairs = [authority, serving, ...Object.values(clients), frontProxy.authority, frontProxy.client];
  return minOf(pairs.map(({ certificate }) => Date.parse(new X509Certificate(certificate).validTo))) - RENEW_BEFORE_MS;
}

interface CertificateProfile extends AlternativeNames {
  readonly subject: Subject;
  readonly purpose: ExtendedKeyUsage;
}

function clientRequest(subject: Subject): CertificateProfile {
  return { subject, purpose: 'clientAuth' };
}

function servingRequest({ names, clusterDomain = 'cluster.local' }: PkiOptions): CertificateProfile {
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', `kubernetes.default.svc.${clusterDomain}`];
  return {
    subject: { commonName: 'kube-apiserver' },
    purpose: 'serverAuth',
    dnsNames: [...new Set([...service, 'localhost', ...(names.dnsNames ?? [])])],
    ipAddresses: [...new Set(['127.0.0.1', '::1', ...(names.ipAddresses ?? [])])],
  };
}

function renewAuthority(current: KeyPair | undefined, commonName: string, { now, random }: PkiOptions): KeyPair {
  if (current !== undefined && !endsSoon(new X509Certificate(current.certificate), now)) return current;
  return createAuthority({ subject: { commonName }, notBefore: now - BACKDATE_MS, notAfter: now + AUTHORITY_MS }, random);
}

/** Parsing keys is slower than signing: each is parsed once, on demand. */
interface Issuer {
  signer(): Authority;
  publicKey(): KeyObject;
}

function issuerOf(authority: KeyPair): Issuer {
  let signer: Authority | undefined;
  let publicKey: KeyObject | undefined;
  return {
    signer: () => {
      signer ??= loadAuthority(authority);
      return signer;
    },
    publicKey: () => {
      publicKey ??= new X509Certificate(authority.certificate).publicKey;
      return publicKey;
    },
  };
}

type IssueContext = Pick<PkiOptions, 'now' | 'random'> & Issuer;

function renewCertificate(current: KeyPair | undefined, profile: CertificateProfile, options: IssueContext): KeyPair {
  return current !== undefined && isGood(new X509Certificate(current.certificate), profile, options) ? current : issue(profile, options);
}

function isGood(certificate: X509Certificate, profile: CertificateProfile, { now, publicKey }: IssueContext): boolean {
  return !endsSoon(certificate, now) && hasNames(certificate, profile) && certificate.verify(publicKey());
}

function endsSoon({ validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validTo) - now < RENEW_BEFORE_MS;
}

function hasNames(parsed: X509Certificate, { dnsNames = [], ipAddresses = [] }: CertificateProfile): boolean {
  return dnsNames.every((name) => parsed.checkHost(name) !== undefined) && ipAddresses.every((ip) => parsed.checkIP(ip) !== undefined);
}

function issue({ subject, purpose, ...names }: CertificateProfile, { signer: load, now, random }: IssueContext): KeyPair {
  const signer = load();
  const key = newPrivateKey();
  const certificate = signCertificate(
    {
      ...names,
      subject,
      publicKey: createPublicKey(key),
      notBefore: now - BACKDATE_MS,
      notAfter: Math.min(now + CERTIFICATE_MS, signer.notAfter),
      keyUsages: ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsages: [purpose],
    },
    signer,
    random,
  );
  return { certificate, key: privateKeyPem(key) };
}
