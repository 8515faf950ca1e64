import {
  type AlternativeNames,
  Backoff,
  type Clock,
  type Logger,
  type MetricsRegistry,
  newPrivateKey,
  privateKeyPem,
  type Random,
} from '#base';
import type { Client } from '#client';
import { type CertificateFiles, type CertifiedKey, validityOf } from './certificate-files.ts';
import { clientCertificateMetrics, servingCertificateMetrics } from './certificate-metrics.ts';
import { type CertificateRequest, CLIENT_SIGNER, requestCertificate } from './request-certificate.ts';

export interface Rotation {
  readonly nodeName: string;
  readonly signerName: CertificateRequest['signerName'];
  readonly files: CertificateFiles;
  /** The machine's current names; undefined: not known yet, which delays the request. Absent: the certificate has none. */
  names?(): AlternativeNames | undefined;
}

export interface RotationDeps {
  /** The client for requests; after a rotation of its own certificate, the new one. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

const RETRY = { initialMs: 2000, maxMs: 300_000 };
const NAMES_MS = 1000;

/** The current pair, then each replacement, until the signal aborts. */
export async function* rotatedCertificates(rotation: Rotation, deps: RotationDeps, signal: AbortSignal): AsyncIterable<CertifiedKey> {
  const { files } = rotation;
  const { clock, logger } = deps;
  const metrics = rotation.signerName === CLIENT_SIGNER ? clientCertificateMetrics(deps) : servingCertificateMetrics(deps);
  let current = await files.current();
  if (current !== undefined && validityOf(current.cert).toMs <= clock.now()) current = undefined;
  if (current !== undefined) {
    metrics.use(current.cert);
    yield current;
  }
  const backoff = new Backoff(RETRY);
  while (!signal.aborted) {
    try {
      if (current !== undefined) await clock.sleep(Math.max(0, rotationTime(current.cert, deps.random) - clock.now()), signal);
      const next = await renewed(rotation, deps, signal);
      await files.store(next, clock.now());
      backoff.reset();
      current = next;
      metrics.use(next.cert);
      yield next;
    } catch (error) {
      if (signal.aborted) return;
      metrics.fail();
      logger.warn('no certificate was issued; requesting again', { signer: rotation.signerName, error });
      await clock.sleep(backoff.next(), signal).catch(() => {});
    }
  }
}

async function renewed({ nodeName, signerName, names }: Rotation, deps: RotationDeps, signal: AbortSignal): Promise<CertifiedKey> {
  let requestedNames = names?.();
  while (names !== undefined && requestedNames === undefined) {
    await deps.clock.sleep(NAMES_MS, signal);
    requestedNames = names();
  }
  const key = newPrivateKey();
  const cert = await requestCertificate({ nodeName, signerName, key, ...(requestedNames && { names: requestedNames }) }, deps, signal);
  return { cert, key: privateKeyPem(key) };
}

/** Between 70 and 90 % of the lifetime, so that not all nodes rotate at once. Milliseconds since the epoch. */
export function rotationTime(cert: string, random: Random): number {
  const { fromMs, toMs } = validityOf(cert);
  return fromMs + (toMs - fromMs) * (0.7 + 0.2 * random.float());
}
