import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { LAYERS } from './layers.ts';
import { readMarkdown } from './markdown.ts';
import { ROOT } from './source-tree.ts';

const files = readMarkdown();
const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

test('links lead to files that exist', () => {
  const broken = files.flatMap((file) =>
    [...file.text.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
      .map(([, target]) => path.posix.join(path.posix.dirname(file.path), target as string))
      .filter((target) => !existsSync(path.join(ROOT, target)))
      .map((target) => `${file.path} → ${target}`),
  );
  expect(broken).toEqual([]);
});

test('npm commands that are named exist', () => {
  const named = files.flatMap((file) =>
    [...file.text.matchAll(/\bnpm (?:run )?([a-z]+)\b/g)].map(([command, script]) => ({ command, script, at: file.path })),
  );
  const ofNpm = ['ci', 'install', 'link', 'noted', 'package', 'registry'];
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter(({ script }) => !((script as string) in manifest.scripts) && !ofNpm.includes(script as string))).toEqual([]);
});

test('paths that are named to vitest exist', () => {
  const named = files.flatMap((file) =>
    [...file.text.matchAll(/vitest (?:run )?((?:src|test)\/[\w./-]+)/g)].map(([, target]) => target as string),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((target) => !existsSync(path.join(ROOT, target)))).toEqual([]);
});

test('the table of layers in ARCHITECTURE.md is the one that is enforced', () => {
  const text = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const rows = [...text.matchAll(/^\| ([a-z, ]+) \| [^|]+ \| ([^|]+) \|$/gm)].filter(([, directory]) => directory !== 'directory');
  const above: string[] = [];
  const documented = Object.fromEntries(
    rows.flatMap(([, directories, imports]) => {
      const names = (directories as string).split(', ');
      const allowed = allowedImports(imports as string, above);
      above.push(...names);
      return names.map((name) => [name, allowed.toSorted()]);
    }),
  );
  const { '': _package, ...enforced } = LAYERS;
  expect(documented).toEqual(Object.fromEntries(Object.entries(enforced).map(([name, imports]) => [name, imports.toSorted()])));
});

function allowedImports(text: string, above: readonly string[]): string[] {
  if (text === 'nothing of ours') return [];
  const [, except] = /^all of the above(?: but (\w+))?$/.exec(text) ?? [];
  return text.startsWith('all of the above') ? above.filter((name) => name !== except) : text.split(', ');
}
