import type { Clock } from '#base';
import { openStreamingCommand, openStreamingPort } from '#client';
import type { StreamingClient } from './streaming-client.ts';

export interface StreamingUrlClientDeps {
  /** For keep-alives. */
  readonly clock: Clock;
  /** The address of the streaming server, if it differs from the host in its URLs. */
  readonly socketPath?: string;
}

/** A SPDY client of the runtime's streaming server: every runtime supports SPDY. */
export function streamingUrlClient(deps: StreamingUrlClientDeps): StreamingClient {
  return {
    command: (url, request, options) => openStreamingCommand(url, request, { ...deps, signal: options?.signal }),
    portForward: (url, port, options) => openStreamingPort(url, port, { ...deps, signal: options?.signal }),
  };
}
