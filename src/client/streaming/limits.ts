/** Limits of streaming connections, upstream's where it has them. */
export const LIMITS = {
  /** The ping interval, and the timeout of a ping. */
  keepAliveMs: 30_000,
  /** How long a peer may keep a finished connection open. */
  closeMs: 10_000,
  /** How long a server may take to accept a connection and to upgrade it. */
  dialMs: 30_000,
  /** How long a client may take to open its announced streams. */
  streamCreationMs: 30_000,
  /** The limit of a peer's error message. */
  statusBytes: 64 * 1024,
} as const;
