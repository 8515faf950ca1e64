import type { Clock, Logger } from '#base';

/** What a server shows to its clients, and how it knows them. PEM texts. */
export interface ServingCertificates {
  readonly certificate: string;
  readonly key: string;
  /** Who signs the certificates of clients. */
  readonly clientAuthority: string;
}

export interface Following {
  readonly current: ServingCertificates;
  /** Reads the files anew. Throws when they cannot be used, as while somebody replaces them one after the other. */
  readonly read: () => ServingCertificates;
  readonly use: (certificates: ServingCertificates) => void;
}

/** As often as upstream looks. */
const CHECK_MS = 60_000;

/** Puts certificates to use that were replaced in their files, until the signal aborts. Those in use stay while the files are no good. */
export async function followCertificates(
  following: Following,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  let { current } = following;
  for (;;) {
    await clock.sleep(CHECK_MS, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const found = following.read();
      if (isSame(found, current)) continue;
      following.use(found);
      current = found;
      logger.info('the certificates in the files have changed and are in use');
    } catch (error) {
      logger.warn('the certificates in the files cannot be used; those from before stay', { error });
    }
  }
}

function isSame(a: ServingCertificates, b: ServingCertificates): boolean {
  return a.certificate === b.certificate && a.key === b.key && a.clientAuthority === b.clientAuthority;
}
