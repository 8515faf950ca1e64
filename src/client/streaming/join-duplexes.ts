import { type Duplex, finished } from 'node:stream';

/**
 * Copies bytes in both directions until both have ended; when one side is destroyed, so is the other. Supports half-close.
 * Never rejects.
 */
export async function joinDuplexes(one: Duplex, other: Duplex): Promise<void> {
  one.pipe(other);
  other.pipe(one);
  await Promise.all([closing(one, other), closing(other, one)]);
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
