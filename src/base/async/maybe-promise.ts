/**
 * A value that is usually available synchronously. A write has dozens of such steps, and each `await` would cost a turn of the microtask queue: see
 * the `maybe-promise` benchmark. Only these helpers distinguish the two cases.
 */
export type MaybePromise<T> = T | Promise<T>;

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise;
}

export function mapMaybePromise<T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Like `Promise.all`, synchronous if every value is. */
export function allMaybePromise<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as readonly T[]);
}
