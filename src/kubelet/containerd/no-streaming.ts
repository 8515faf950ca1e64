import type { StreamingClient } from '../cri/grpc/streaming-client.ts';
import { RuntimeError } from '../cri/runtime.ts';

/** For runtimes that execute no commands. */
export const noStreaming: StreamingClient = {
  command: () => Promise.reject(new RuntimeError('unimplemented', 'no streams here')),
  portForward: () => Promise.reject(new RuntimeError('unimplemented', 'no streams here')),
};
