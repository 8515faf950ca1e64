import type { Readable, Writable } from 'node:stream';

/**
 * Copies until the source has ended and everything is written, or until one of the two is destroyed, which destroys the other. Resolves then; never
 * rejects. Does what Node's `pipeline` does with two streams, with a tenth of its listeners: thousands of idle streams are open at once. Both need
 * handlers of 'error'.
 */
export function copyStream(from: Readable, to: Writable): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      if (!from.readableEnded) from.destroy();
      resolve();
    };
    if (to.destroyed) return stop();
    to.once('close', stop);
    to.once('finish', resolve);
    if (from.readableEnded) return void to.end();
    if (from.destroyed) return void to.destroy();
    from.once('end', () => to.end());
    from.once('close', () => {
      if (!from.readableEnded) to.destroy();
    });
    to.on('drain', () => from.resume());
    from.on('data', (chunk: Buffer) => {
      if (!to.write(chunk)) from.pause();
    });
    if (to.writableNeedDrain) from.pause();
  });
}
