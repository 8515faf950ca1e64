import type { Readable } from 'node:stream';
import { StatusError } from '#machinery';

/** Reads a whole body, or refuses it as soon as it is known to be too large. */
export function readLimited(source: Readable, contentLength: string | undefined, limit: number): Promise<Buffer> {
  if (contentLength !== undefined && Number(contentLength) > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        source.removeAllListeners('data');
        source.resume();
        reject(tooLarge(limit));
      }
    });
    let isWhole = false;
    source.once('end', () => {
      isWhole = true;
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    });
    source.once('error', reject);
    source.once('close', () => {
      if (!isWhole) reject(StatusError.badRequest('unexpected EOF'));
    });
  });
}

function tooLarge(limit: number): StatusError {
  return StatusError.requestEntityTooLarge(`limit is ${limit}`);
}
