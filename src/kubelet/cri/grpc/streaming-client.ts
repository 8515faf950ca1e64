import type { Duplex } from 'node:stream';
import type { AttachRequest, CallOptions, RemoteCommand } from '../runtime.ts';

/** A client of the runtime's streaming server. URLs are issued by the runtime. */
export interface StreamingClient {
  command(url: string, request: AttachRequest, options?: CallOptions): Promise<RemoteCommand>;
  portForward(url: string, port: number, options?: CallOptions): Promise<Duplex>;
}
