import { Quantity, setKey } from '#machinery';

export type ResourceList = Readonly<Record<string, string>>;

/** Quantities that are certainly whole milli-units: the common case, without arithmetic. */
const WHOLE_MILLIS = /^[0-9]+(?:m|[kKMGTPE]i?)?$/;

/** Resources have milli-unit precision: finer values are rounded up. */
export function roundResources(list: ResourceList): ResourceList {
  let rounded: Record<string, string> | undefined;
  for (const name of Object.keys(list)) {
    const text = list[name] ?? '0';
    if (WHOLE_MILLIS.test(text)) continue;
    const next = Quantity.parse(text).roundUp(-3).toString();
    if (next === text) continue;
    rounded ??= { ...list };
    setKey(rounded, name, next);
  }
  return rounded ?? list;
}

/** The list with missing entries added from another; the same list if none are missing. */
export function fillResources(list: ResourceList | undefined, added: ResourceList): ResourceList | undefined {
  let filled: Record<string, string> | undefined;
  for (const name of Object.keys(added)) {
    if (list !== undefined && Object.hasOwn(list, name)) continue;
    filled ??= { ...list };
    setKey(filled, name, added[name] ?? '0');
  }
  return filled ?? list;
}
