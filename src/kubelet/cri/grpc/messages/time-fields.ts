import type { Field } from '#base';

const NANOS_PER_MS = 1_000_000;

/** CRI's nanoseconds since 1970 as milliseconds; exact to the microsecond. */
export function nanosAsMs(number: number): Field<number, number> {
  return {
    number,
    write: (writer, ms) => void writer.big(number, BigInt(Math.round(ms * 1000)) * 1000n),
    read: (reader) => msOf(BigInt.asIntN(64, reader.big())),
    absent: () => 0,
  };
}

/** The same; undefined when it is 0. */
export function optionalNanosAsMs(number: number): Field<number | undefined, number> {
  return {
    ...nanosAsMs(number),
    read(reader) {
      const nanos = BigInt.asIntN(64, reader.big());
      // Go's zero time is the year 1: a large negative number of nanoseconds.
      return nanos <= 0n ? undefined : msOf(nanos);
    },
    absent: () => undefined,
  };
}

function msOf(nanos: bigint): number {
  return Number(nanos / 1000n) / (NANOS_PER_MS / 1000);
}

/** Seconds on the wire, milliseconds here; rounded up, so that a short timeout does not become 0, which is none. */
export function secondsAsMs(number: number): Field<number, number> {
  return {
    number,
    write: (writer, ms) => void writer.number(number, Math.ceil(ms / 1000)),
    read: (reader) => reader.number() * 1000,
    absent: () => 0,
  };
}
