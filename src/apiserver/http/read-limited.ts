import type { Readable } from 'node:stream';
import { ChunkList } from '#base';
import { StatusError } from '#machinery';

export interface ReadLimits {
  /** The limit in bytes. */
  readonly limit: number;
  /** Counts arriving bytes; an error aborts the read. */
  count?(bytes: number): void;
}

/** Reads a whole body, or rejects as soon as it is too large. */
export function readLimited(source: Readable, contentLength: string | undefined, { limit, count }: ReadLimits): Promise<Buffer> {
  if (contentLength !== undefined && Number(contentLength) > limit) return Promise.reject(bodyTooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks = new ChunkList();
    const giveUp = (error: unknown) => {
      source.removeAllListeners('data');
      chunks.clear();
      source.resume();
      reject(error);
    };
    source.on('data', (chunk: Buffer) => {
      if (chunks.bytes + chunk.length > limit) return giveUp(bodyTooLarge(limit));
      try {
        count?.(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        giveUp(error);
      }
    });
    let isWhole = false;
    source.once('end', () => {
      isWhole = true;
      resolve(chunks.whole());
    });
    source.once('error', reject);
    source.once('close', () => {
      if (!isWhole) reject(StatusError.badRequest('unexpected EOF'));
    });
  });
}

export function bodyTooLarge(limit: number): StatusError {
  return StatusError.requestEntityTooLarge(`limit is ${limit}`);
}
