/** Why a connection ends. */
export type SpdyErrorReason = 'protocolError' | 'internalError' | 'closed';

/** A connection that violated the protocol, or was closed by either side. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';

  constructor(
    readonly reason: SpdyErrorReason,
    message: string,
  ) {
    super(message);
  }
}

/** One stream was reset by the peer or locally. */
export class StreamResetError extends Error {
  override readonly name = 'StreamResetError';

  constructor(readonly status: number) {
    super(`the stream was reset: ${RESET_NAMES.get(status) ?? `status ${status}`}`);
  }
}

export const RESET = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  unsupportedVersion: 4,
  cancel: 5,
  internalError: 6,
  flowControlError: 7,
  streamInUse: 8,
  streamAlreadyClosed: 9,
  frameTooLarge: 11,
} as const;

const RESET_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(RESET).map(([name, status]) => [status, name]));
