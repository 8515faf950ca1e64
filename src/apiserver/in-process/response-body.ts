import { ChunkList } from '#base';
import { NO_RESOURCE, type Status, StatusError, serverResponseError } from '#machinery';

/** The limit of aggregated servers' responses to in-process clients. */
export const MAX_RESPONSE_BYTES = 64 << 20;

export async function readAll(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks = new ChunkList();
  for await (const chunk of body) {
    chunks.push(chunk);
    if (chunks.bytes > MAX_RESPONSE_BYTES) throw new Error(`the answer is longer than ${MAX_RESPONSE_BYTES} bytes`);
  }
  return chunks.whole().toString('utf8');
}

export function streamedObject(code: number, text: string): unknown {
  if (code >= 400) throw streamedFailure(code, text);
  return rawObject(code, text);
}

/** An aggregated server's error: a Status or text. */
export function streamedFailure(code: number, text: string): StatusError {
  try {
    const status = JSON.parse(text) as Partial<Status>;
    if (status.kind === 'Status') return StatusError.fromStatus(status);
  } catch {
    // Not a Status: the text is the message.
  }
  return plainFailure(code, text);
}

export function rawObject(code: number, body: Buffer | string): unknown {
  const text = body.toString();
  if (code >= 400) throw plainFailure(code, text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function plainFailure(code: number, text: string): StatusError {
  const serverMessage = text.trim() || 'unknown';
  return serverResponseError({ code, verb: '', resource: NO_RESOURCE, name: '', serverMessage, retryAfterSeconds: 0, unexpected: true });
}
