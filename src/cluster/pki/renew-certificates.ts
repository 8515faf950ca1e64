import type { Clock, Logger } from '#base';
import type { DataDirectory } from '../data/data-directory.ts';
import { type ClusterPki, type PkiOptions, renewalTime } from './pki.ts';
import { loadPki } from './pki-files.ts';

export interface Renewal {
  readonly current: ClusterPki;
  readonly directory: DataDirectory;
  readonly options: Omit<PkiOptions, 'now'>;
  /** Applies renewed certificates. Failures are retried at the next check. */
  readonly use: (pki: ClusterPki) => Promise<void>;
}

export interface RenewalDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Short compared to the renewal margin, also on a machine that sleeps. */
const CHECK_MS = 6 * 3_600_000;

/** Renews the certificates of a running cluster before they expire, until the signal aborts. */
export async function renewCertificates(renewal: Renewal, { clock, logger }: RenewalDeps, signal: AbortSignal): Promise<void> {
  let { current: inUse } = renewal;
  for (;;) {
    await clock.sleep(CHECK_MS, signal).catch(() => {});
    if (signal.aborted) return;
    if (clock.now() < renewalTime(inUse)) continue;
    try {
      const renewed = await loadPki(renewal.directory, { ...renewal.options, now: clock.now() });
      await renewal.use(renewed);
      inUse = renewed;
      logger.info('certificates were renewed');
    } catch (error) {
      logger.error('certificates could not be renewed; trying again later', { error });
    }
  }
}
