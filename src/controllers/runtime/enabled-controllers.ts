import type { Controller } from './controller.ts';

/**
 * The controllers that a `--controllers` list enables: `foo` enables foo, `-foo` disables it, `*` stands for all that are enabled by
 * default. Throws on unknown names.
 */
export function enabledControllers(controllers: readonly Controller[], entries: readonly string[]): readonly Controller[] {
  const names = entries.map((entry) => canonical(entry, controllers));
  return controllers.filter(({ name, enabledByDefault }) => {
    if (names.includes(name)) return true;
    if (names.includes(`-${name}`)) return false;
    return names.includes('*') && enabledByDefault;
  });
}

function canonical(entry: string, controllers: readonly Controller[]): string {
  if (entry === '*') return entry;
  const sign = entry.startsWith('-') ? '-' : '';
  const name = entry.slice(sign.length);
  const match = controllers.find((controller) => controller.name === name || controller.aliases?.includes(name));
  if (match === undefined) throw new TypeError(`"${name}" is not in the list of known controllers`);
  return sign + match.name;
}
