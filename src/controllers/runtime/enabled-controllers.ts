import type { Controller } from './controller.ts';

/**
 * Those of `controllers` that a `--controllers` list asks for: `foo` enables foo, `-foo` disables it, `*` stands for all that are on by
 * default. Throws on names that nobody knows.
 */
export function enabledControllers(controllers: readonly Controller[], asked: readonly string[]): readonly Controller[] {
  const wanted = asked.map((entry) => canonical(entry, controllers));
  return controllers.filter(({ name, enabledByDefault }) => {
    if (wanted.includes(name)) return true;
    if (wanted.includes(`-${name}`)) return false;
    return wanted.includes('*') && enabledByDefault;
  });
}

function canonical(entry: string, controllers: readonly Controller[]): string {
  if (entry === '*') return entry;
  const sign = entry.startsWith('-') ? '-' : '';
  const name = entry.slice(sign.length);
  const found = controllers.find((controller) => controller.name === name || controller.aliases?.includes(name));
  if (found === undefined) throw new TypeError(`"${name}" is not in the list of known controllers`);
  return sign + found.name;
}
