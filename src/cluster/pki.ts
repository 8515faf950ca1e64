import { createPublicKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type AlternativeNames,
  type Authority,
  createAuthority,
  type ExtendedKeyUsage,
  type KeyPair,
  loadAuthority,
  newPrivateKey,
  privateKeyPem,
  type Random,
  type Subject,
  signCertificate,
} from '#base';

/** By which the parts of one cluster know each other, in PEM. Functions here make it; who keeps it is another matter. */
export interface ClusterCertificates {
  /** Signs all the others. */
  readonly authority: KeyPair;
  /** The API server's own. */
  readonly serving: KeyPair;
  /** By the name of who uses it. */
  readonly clients: Readonly<Record<ClientName, KeyPair>>;
}

export interface ClusterPki extends ClusterCertificates {
  /** Signs tokens of service accounts. RSA, for that is what all verifiers know; a new one takes a while, and is made when it is asked for. */
  readonly serviceAccountKey: string | (() => Promise<string>);
}

/** Who talks to the API server, and as whom. */
export const CLIENTS = {
  admin: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
  controllerManager: { commonName: 'system:kube-controller-manager' },
  scheduler: { commonName: 'system:kube-scheduler' },
  proxy: { commonName: 'system:kube-proxy' },
  /** The API server itself, when it calls a kubelet. */
  kubeletClient: { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] },
} as const satisfies Record<string, Subject>;

export type ClientName = keyof typeof CLIENTS;

/** As whom a node talks to the API server. */
export function nodeSubject(name: string): Subject {
  return { commonName: `system:node:${name}`, organizations: ['system:nodes'] };
}

export interface PkiOptions {
  /** Names and addresses under which the API server is reached, beyond the usual. */
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
/** Clocks of other machines may be behind. */
const BACKDATE_MS = 5 * 60_000;
/** Certificates are replaced this long before they end, the authority's with them all. */
const RENEW_BEFORE_MS = 90 * DAY_MS;

export async function createPki(options: PkiOptions): Promise<ClusterPki & { readonly serviceAccountKey: string }> {
  return { ...renewedCertificates({}, options), serviceAccountKey: await createServiceAccountKey() };
}

/** The same certificates, but for those that are missing, end soon, lack a name or come from another authority. */
export function renewedCertificates(current: Partial<ClusterCertificates>, options: PkiOptions): ClusterCertificates {
  const authority = renewAuthority(current.authority, options);
  const issuing = { ...options, ...issuerOf(authority) };
  const clients = Object.entries(CLIENTS).map(([name, subject]) => {
    const before = current.clients?.[name as ClientName];
    return [name, renewCertificate(before, clientRequest(subject), issuing)];
  });
  return {
    authority,
    serving: renewCertificate(current.serving, servingRequest(options), issuing),
    clients: Object.fromEntries(clients) as Record<ClientName, KeyPair>,
  };
}

/** A client certificate of the cluster: for a node, or for somebody who is to use it. */
export function createClientCertificate(subject: Subject, authority: KeyPair, options: Pick<PkiOptions, 'now' | 'random'>): KeyPair {
  return issue(clientRequest(subject), { ...options, ...issuerOf(authority) });
}

/** A certificate for serving, such as that of a kubelet. */
export function createServingCertificate(
  names: AlternativeNames & { readonly subject: Subject },
  authority: KeyPair,
  options: Pick<PkiOptions, 'now' | 'random'>,
): KeyPair {
  return issue({ ...names, purpose: 'serverAuth' }, { ...options, ...issuerOf(authority) });
}

/** Does not hold up the process, for finding the primes takes a while. */
export async function createServiceAccountKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return privateKeyPem(privateKey);
}

/** Milliseconds since the epoch when something is to be renewed first. */
export function renewalTime({ authority, serving, clients }: ClusterCertificates): number {
  const pairs = [authority, serving, ...Object.values(clients)];
  return Math.min(...pairs.map(({ certificate }) => Date.parse(new X509Certificate(certificate).validTo))) - RENEW_BEFORE_MS;
}

interface CertificateWish extends AlternativeNames {
  readonly subject: Subject;
  readonly purpose: ExtendedKeyUsage;
}

function clientRequest(subject: Subject): CertificateWish {
  return { subject, purpose: 'clientAuth' };
}

function servingRequest({ names, clusterDomain = 'cluster.local' }: PkiOptions): CertificateWish {
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', `kubernetes.default.svc.${clusterDomain}`];
  return {
    subject: { commonName: 'kube-apiserver' },
    purpose: 'serverAuth',
    dnsNames: [...new Set([...service, 'localhost', ...(names.dnsNames ?? [])])],
    ipAddresses: [...new Set(['127.0.0.1', '::1', ...(names.ipAddresses ?? [])])],
  };
}

function renewAuthority(current: KeyPair | undefined, { now, random }: PkiOptions): KeyPair {
  if (current !== undefined && !endsSoon(new X509Certificate(current.certificate), now)) return current;
  return createAuthority({ subject: { commonName: 'kubernetes' }, notBefore: now - BACKDATE_MS, notAfter: now + AUTHORITY_MS }, random);
}

/** Reading keys takes longer than signing with them: each is read once, when it is needed. */
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

type Issuing = Pick<PkiOptions, 'now' | 'random'> & Issuer;

function renewCertificate(current: KeyPair | undefined, wish: CertificateWish, options: Issuing): KeyPair {
  return current !== undefined && isGood(new X509Certificate(current.certificate), wish, options) ? current : issue(wish, options);
}

function isGood(certificate: X509Certificate, wish: CertificateWish, { now, publicKey }: Issuing): boolean {
  return !endsSoon(certificate, now) && hasNames(certificate, wish) && certificate.verify(publicKey());
}

function endsSoon({ validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validTo) - now < RENEW_BEFORE_MS;
}

function hasNames(parsed: X509Certificate, { dnsNames = [], ipAddresses = [] }: CertificateWish): boolean {
  return dnsNames.every((name) => parsed.checkHost(name) !== undefined) && ipAddresses.every((ip) => parsed.checkIP(ip) !== undefined);
}

function issue({ subject, purpose, ...names }: CertificateWish, { signer: load, now, random }: Issuing): KeyPair {
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
