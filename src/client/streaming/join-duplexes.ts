import { type Duplex, finished } from 'node:stream';
import { BulkGarbage, hasRoom } from '#base';

/**
 * Copies bytes in both directions until both have ended; when one side is destroyed, so is the other. Supports half-close.
 * Never rejects.
 */
export async function joinDuplexes(left: Duplex, right: Duplex): Promise<void> {
  copy(left, right);
  copy(right, left);
  await Promise.all([closing(left, right), closing(right, left)]);
}

/** All that is read in one turn of the event loop is one write: TLS records arrive singly, 16 KiB each. */
function copy(from: Duplex, to: Duplex): void {
  const garbage = new BulkGarbage();
  let isCorked = false;
  const uncork = () => {
    isCorked = false;
    to.uncork();
  };
  from.on('data', (chunk: Buffer) => {
    if (!to.writable) return;
    if (!isCorked) {
      isCorked = true;
      to.cork();
      setImmediate(uncork);
    }
    to.write(chunk);
    if (!hasRoom(to)) from.pause();
    garbage.add(chunk.length);
  });
  to.on('drain', () => from.resume());
  from.on('end', () => to.end());
}

function closing(stream: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    finished(stream, (error) => {
      if (error) destroyAfterWrites(other);
      resolve();
    });
    stream.once('close', () => {
      destroyAfterWrites(other);
      resolve();
    });
  });
}

/** Data received before the other side closed is still delivered. */
function destroyAfterWrites(stream: Duplex): void {
  if (stream.destroyed) return;
  if (stream.writableEnded) {
    if (stream.writableFinished) stream.destroy();
    else stream.once('finish', () => stream.destroy());
  } else stream.end(() => stream.destroy());
}
