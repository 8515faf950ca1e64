/** The object without zeros, empty strings, empty lists and undefined: the form in which the server stores such fields. */
export function withoutZeros<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => !isZero(value));
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function isZero(value: unknown): boolean {
  return value === undefined || value === 0 || value === '' || value === false || (Array.isArray(value) && value.length === 0);
}
