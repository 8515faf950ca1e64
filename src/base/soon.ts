/** What is mostly known at once. Then nobody waits for it: a write passes dozens of such steps, and each wait would cost it a turn. */
export type Soon<T> = T | Promise<T>;

export function whenKnown<T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}
