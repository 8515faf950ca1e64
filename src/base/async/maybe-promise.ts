/**
 * A value that is usually available synchronously. A write passes dozens of such steps, and each `await` would cost it a turn of the microtask
 * queue: the `maybe-promise` benchmark measures it. These helpers are the only place that tells the two apart.
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
