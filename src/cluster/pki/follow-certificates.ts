import { isDeepStrictEqual } from 'node:util';
import type { Clock, Logger, SniCertificate } from '#base';

/** A server's certificate and client CA. PEM. */
export interface ServingCertificates {
  readonly certificate: string;
  readonly key: string;
  /** The CA of client certificates. Empty: none are accepted. */
  readonly clientAuthority: string;
  /** Certificates of names; the server reads them by its settings. */
  readonly sniCertificates?: readonly SniCertificate[] | undefined;
}

/** PEM files to follow. */
export interface FollowOptions<T extends object> {
  readonly current: T;
  /** Reads the files. Throws if they are inconsistent, for example while they are being replaced. */
  readonly read: () => T;
  readonly use: (certificates: T) => void;
}

/** Upstream's polling interval. */
const CHECK_MS = 60_000;

/** Applies certificates that were replaced on disk, until the signal aborts. Invalid files are ignored. */
export async function followCertificates<T extends object>(
  following: FollowOptions<T>,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  let { current } = following;
  for (;;) {
    await clock.sleep(CHECK_MS, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const certificates = following.read();
      if (isDeepStrictEqual(certificates, current)) continue;
      following.use(certificates);
      current = certificates;
      logger.info('the certificates were reloaded');
    } catch (error) {
      logger.warn('the certificate files are invalid; keeping the previous certificates', { error });
    }
  }
}
