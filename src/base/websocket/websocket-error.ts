/** The peer violated the WebSocket protocol. `code` is sent in the close frame. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError';

  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export const CLOSE = { normal: 1000, goingAway: 1001, protocolError: 1002, tooBig: 1009, internalError: 1011 } as const;
