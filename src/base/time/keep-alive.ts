import type { Duplex } from 'node:stream';
import type { Clock } from './clock.ts';

/** Why a live peer may seem silent: this side does not read, or its writes are not consumed. */
export type StalledSide = 'reading' | 'writing';

export function stalledSideOf(transport: Duplex): StalledSide | undefined {
  if (transport.isPaused()) return 'reading';
  return transport.writableNeedDrain ? 'writing' : undefined;
}

export interface KeepAliveOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Increases with all received data. */
  readonly activity: () => number;
  readonly ping: () => void;
  readonly stalledSide?: () => StalledSide | undefined;
  /** The peer sent nothing in the interval after a ping. */
  readonly onDead: () => void;
}

/** How many intervals a peer may leave written data unread: a pager, or a full disk, is not dead. */
const STALLED_INTERVALS = 10;

/**
 * Pings a silent peer, and closes the connection without a response. While this side does not read, silence means nothing: that case is left to TCP.
 * Dispose of the result when the connection is closed.
 */
export function keepAlive({ clock, intervalMs, activity, ping, stalledSide = () => undefined, onDead }: KeepAliveOptions): Disposable {
  let seen = activity();
  let silentIntervals = 0;
  const check = () => {
    const now = activity();
    const blocked = stalledSide();
    silentIntervals = now === seen && blocked !== 'reading' ? silentIntervals + 1 : 0;
    seen = now;
    if (silentIntervals > (blocked === 'writing' ? STALLED_INTERVALS : 1)) return onDead();
    if (silentIntervals === 1) ping();
    timer = clock.setTimer(intervalMs, check);
  };
  let timer = clock.setTimer(intervalMs, check);
  return { [Symbol.dispose]: () => timer.cancel() };
}
