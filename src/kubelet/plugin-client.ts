import { type Clock, GrpcClient } from '#base';

/** gRPC's default limit of a received message; plugins cannot expect a larger one. */
const MAX_MESSAGE_BYTES = 4 << 20;

/** A client of a plugin's socket (devices, DRA, CSI), given by its path or as `unix://PATH`. */
export function pluginClient(socket: string, clock: Clock): GrpcClient {
  return new GrpcClient({ endpoint: socket.startsWith('unix:') ? socket : `unix://${socket}`, clock, maxMessageBytes: MAX_MESSAGE_BYTES });
}
