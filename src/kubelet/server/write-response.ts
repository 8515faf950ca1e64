import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { KubeletContent } from './kubelet-call.ts';

/** Writes with back-pressure. */
export async function writeResponse(response: ServerResponse, answer: KubeletContent, signal: AbortSignal): Promise<void> {
  response.writeHead(answer.code, answer.headers);
  response.flushHeaders();
  for await (const chunk of answer.body) if (!response.write(chunk)) await once(response, 'drain', { signal });
  response.end();
}
