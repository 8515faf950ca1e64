/** `SAMPAN_ROBUSTNESS=long` makes all tests longer: hours of faults instead of seconds. A number: that many of each. */
const LENGTH = process.env.SAMPAN_ROBUSTNESS;
export const LONG = LENGTH !== undefined;
const COUNT = LENGTH === undefined || LENGTH === 'long' ? undefined : Number(LENGTH);
if (COUNT !== undefined && !(COUNT >= 1)) throw new Error(`SAMPAN_ROBUSTNESS is "${LENGTH}"; it must be "long" or a number`);

/** The seed of everything random: `SAMPAN_SEED` repeats a failure. */
export const SEED = process.env.SAMPAN_SEED ?? (LONG ? String(Date.now()) : 'every day');

/** The number for normal runs, or for a long run. */
export function times(daily: number, long: number): number {
  return LONG ? (COUNT ?? long) : daily;
}

/** The time a test may take, in milliseconds. */
export function patience(dailyMs: number): number {
  return LONG ? 12 * 60 * 60_000 : dailyMs;
}
