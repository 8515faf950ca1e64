import { Duplex, type Readable, type Writable } from 'node:stream';

/** Combines two directions into one duplex. */
export function duplexOf(readable: Readable, writable: Writable): Duplex {
  const duplex = Duplex.from({ readable, writable }) as Duplex;
  duplex.on('error', () => {});
  return duplex;
}
