import type { Duplex } from 'node:stream';
import type { Clock } from './clock.ts';

/** What keeps a peer's answers from being seen: this side does not read, or what it wrote has not been taken. */
export type Obstacle = 'reading' | 'writing';

export function obstacleOf(transport: Duplex): Obstacle | undefined {
  if (transport.isPaused()) return 'reading';
  return transport.writableNeedDrain ? 'writing' : undefined;
}

export interface KeepAliveOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Grows with all that the peer sends. */
  readonly activity: () => number;
  readonly ping: () => void;
  readonly obstacle?: () => Obstacle | undefined;
  /** The peer has sent nothing in the interval after a ping. */
  readonly onDead: () => void;
}

/** How many intervals a peer may leave what was written to it where it is: a pager, or a disk that is full, is not dead. */
const STALLED_INTERVALS = 10;

/**
 * Asks a silent peer whether it is there, and gives it up when it does not answer. While this side reads nothing, silence says nothing: that
 * is left to TCP. Dispose of the result when the connection is over.
 */
export function keepAlive({ clock, intervalMs, activity, ping, obstacle = () => undefined, onDead }: KeepAliveOptions): Disposable {
  let seen = activity();
  let silentIntervals = 0;
  const check = () => {
    const now = activity();
    const blocked = obstacle();
    silentIntervals = now === seen && blocked !== 'reading' ? silentIntervals + 1 : 0;
    seen = now;
    if (silentIntervals > (blocked === 'writing' ? STALLED_INTERVALS : 1)) return onDead();
    if (silentIntervals === 1) ping();
    timer = clock.setTimer(intervalMs, check);
  };
  let timer = clock.setTimer(intervalMs, check);
  return { [Symbol.dispose]: () => timer.cancel() };
}
