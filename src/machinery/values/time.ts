import {
  canonicalSeconds,
  formatMicroTime as formatInstant,
  formatTime as formatSeconds,
  type Instant,
  parseTime as parseText,
} from '../codec/time-text.ts';

// Times as programs use them, in milliseconds since the epoch. How they are read and written is in codec/time-text.ts.

/** Milliseconds since the epoch as metav1.Time writes them: UTC, whole seconds. */
export function formatTime(ms: number): string {
  return formatSeconds(Math.floor(ms / 1000));
}

/** Milliseconds since the epoch as metav1.MicroTime writes them: UTC, six decimals. */
export function formatMicroTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return formatInstant({ seconds, nanos: Math.trunc((ms - seconds * 1000) * 1e6) });
}

/** Milliseconds since the epoch of an RFC 3339 time. Throws with Go's texts. */
export function parseTime(text: string): number {
  const { seconds, nanos } = parseInstant(text);
  return seconds * 1000 + Math.trunc(nanos / 1_000_000);
}

/** The form in which a server stores a Time field: UTC, without fraction. Throws with Go's texts. */
export function canonicalTime(text: string): string {
  return formatSeconds(parseInstant(text).seconds);
}

/** Throws with Go's texts. */
export function parseInstant(text: string): Instant {
  const seconds = canonicalSeconds(text);
  return Number.isNaN(seconds) ? parseText(text) : { seconds, nanos: 0 };
}
