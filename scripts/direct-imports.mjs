import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';

/** Named imports from a directory of src by its name, as in `import { a, type B } from '#base';`. */
const NAMED_IMPORT = /^import (?!type )\{([^}]*)\} from '#([\w-]+)';$/gm;
const NAMED_EXPORT = /^export (?!type )\{([^}]*)\} from '([.#][^']+)';$/gm;
const STAR_EXPORT = /^export \* (?:as (\w+) )?from '(\.[^']+)';$/gm;
const OWN_EXPORT = /^export (?:abstract |async )*(?:class|const|function\*?|let) (\w+)/gm;

/**
 * Lets imports by a directory's name go to the files that define what is imported: a bundle that goes through index.ts initializes everything that the
 * directory has, also what only a command that was not given, or a real node, needs. Importing a file does nothing by itself (ARCHITECTURE.md), so the
 * order does not matter.
 */
export class DirectImports {
  #exports = new Map();

  rewrite(source) {
    return source.replace(NAMED_IMPORT, (_, names, directory) => {
      const places = this.#exportsOf(indexOf(directory));
      const imports = specifiers(names).map(({ name, alias }) => importLine(places.get(name), { name, alias, directory }));
      // On one line, or as many as before: positions in source maps stay.
      return imports.join(' ') + '\n'.repeat(names.split('\n').length - 1);
    });
  }

  /** By name: the file, and its name there; undefined for all of the file. */
  #exportsOf(file) {
    const cached = this.#exports.get(file);
    if (cached !== undefined) return cached;
    const source = readFileSync(file, 'utf8');
    const places = new Map([...source.matchAll(OWN_EXPORT)].map(([, name]) => [name, { file, name }]));
    this.#exports.set(file, places);
    const resolve = (relative) => path.join(path.dirname(file), relative);
    for (const [, names, from] of source.matchAll(NAMED_EXPORT)) {
      const placeOf = (name) => (from.startsWith('#') ? this.#exportsOf(indexOf(from.slice(1))).get(name) : { file: resolve(from), name });
      for (const { name, alias } of specifiers(names)) places.set(alias, placeOf(name));
    }
    for (const [, namespace, from] of source.matchAll(STAR_EXPORT)) {
      if (namespace !== undefined) places.set(namespace, { file: resolve(from), name: undefined });
      else for (const [name, place] of this.#exportsOf(resolve(from))) if (!places.has(name)) places.set(name, place);
    }
    return places;
  }
}

function indexOf(directory) {
  return path.join(ROOT, 'src', directory, 'index.ts');
}

/** Without types, which bundles do not have. */
function specifiers(list) {
  const names = list.split(',').map((name) => name.trim());
  return names
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((specifier) => {
      const [name, alias = name] = specifier.split(' as ');
      return { name, alias };
    });
}

function importLine(place, { name, alias, directory }) {
  if (place === undefined) return `import { ${name} as ${alias} } from '#${directory}';`;
  const from = JSON.stringify(place.file);
  return place.name === undefined ? `import * as ${alias} from ${from};` : `import { ${place.name} as ${alias} } from ${from};`;
}
