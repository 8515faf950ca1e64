import { type Clock, GrpcClient } from '#base';

/** What gRPC servers and clients accept unless they are told otherwise: plugins cannot expect more of a kubelet. */
const MAX_MESSAGE_BYTES = 4 << 20;

/** A client of a plugin's socket (devices, DRA, CSI), given by its path or as `unix://PATH`. */
export function pluginClient(socket: string, clock: Clock): GrpcClient {
  return new GrpcClient({ endpoint: socket.startsWith('unix:') ? socket : `unix://${socket}`, clock, maxMessageBytes: MAX_MESSAGE_BYTES });
}
