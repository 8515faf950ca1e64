import type { Clock, Logger } from '#base';
import { formatTime } from '#machinery';
import type { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { withMetadata } from '../../watch-cache/kube-object.ts';
import { LAST_USED_LABEL } from './legacy-tokens.ts';

const DAY_MS = 24 * 3_600_000;

/** Labels a token secret with its last day of use, at most daily, for the cleaner of unused tokens. */
export function recordTokenUse(
  storage: () => ResourceStorage,
  { clock, logger }: { clock: Clock; logger: Logger },
): (secret: KubeObject) => void {
  return (secret) => {
    const today = dayOf(clock.now());
    const last = secret.metadata.labels?.[LAST_USED_LABEL];
    if (last === today || last === dayOf(clock.now() + DAY_MS)) return;
    label(storage(), secret, today).catch((error: unknown) =>
      logger.warn('cannot record the use of a service account token', { secret: secret.metadata.name, error }),
    );
  };
}

async function label(storage: ResourceStorage, { metadata }: KubeObject, day: string): Promise<void> {
  const current = await storage.get(metadata.namespace ?? '', metadata.name);
  if (current === undefined || current.object.metadata.uid !== metadata.uid) return;
  const labels = { ...current.object.metadata.labels, [LAST_USED_LABEL]: day };
  // On a conflict the next use retries.
  await storage.update(current, withMetadata(current.object, { labels }));
}

function dayOf(milliseconds: number): string {
  return formatTime(milliseconds).slice(0, 10);
}
