import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FOLDER_RULES, type FolderRule } from './folders.ts';
import { readSourceTree, resolveImport, type SourceFile, sourceFile } from './source-tree.ts';

/** The folder of a file, two levels below src/: `controllers/job`; undefined for files directly in their layer. */
function folderOf(name: string): string | undefined {
  const [, layer, folder, ...rest] = name.split('/');
  return rest.length > 0 ? `${layer}/${folder}` : undefined;
}

function ruleFor(folder: string, rules: readonly FolderRule[]): FolderRule | undefined {
  const [layer] = folder.split('/');
  return rules.find((rule) => rule.folder === folder) ?? rules.find((rule) => rule.folder === `${layer}/*`);
}

function folderFaults(file: SourceFile, rules = FOLDER_RULES): string[] {
  const from = folderOf(file.path);
  const rule = from === undefined ? undefined : ruleFor(from, rules);
  if (rule === undefined || file.isTest) return [];
  return file.imports.flatMap(({ specifier }) => {
    const target = specifier.startsWith('.') ? resolveImport(file.path, specifier) : undefined;
    const to = target === undefined ? undefined : folderOf(target);
    const isTop = target !== undefined && to === undefined && target.split('/')[1] === file.path.split('/')[1];
    if (isTop && rule.excludesTop) return [`${file.path}: '${specifier}' puts the folders together, and is not for them to import`];
    if (to === undefined || to === from || rule.mayImport.includes(to)) return [];
    return [`${file.path}: '${specifier}' is not among what ${rule.folder} may import (${rule.mayImport.join(', ')})`];
  });
}

test('folders inside a layer import only the siblings that they may', () => {
  expect(readSourceTree().flatMap((file) => folderFaults(file))).toEqual([]);
});

test('every controller has a pure part beside it: reconcile.ts, or reconcile-KIND.ts for each of its kinds', () => {
  const paths = readSourceTree().map(({ path }) => path);
  const folders = paths.filter((path) => /^src\/controllers\/(?!runtime\/).*\/controller\.ts$/.test(path)).map((path) => dirname(path));
  expect(folders.length).toBeGreaterThan(30);
  const isPure = (path: string, folder: string) => dirname(path) === folder && /^reconcile(?:-[a-z]+)?\.ts$/.test(basename(path));
  expect(folders.filter((folder) => !paths.some((path) => isPure(path, folder)))).toEqual([]);
});

describe('the rule itself', () => {
  test.each([
    ['src/controllers/job/controller.ts', "import { a } from '../runtime/a.ts';", 0],
    ['src/controllers/job/controller.ts', "import type { A } from '../deployment/a.ts';", 1],
    ['src/controllers/job/controller.ts', "import { a } from '../options.ts';", 0],
    ['src/controllers/job/a/b.ts', "import { a } from '../c.ts';", 0],
    ['src/apiserver/watch-cache/a.ts', "import type { A } from '../registry/generic/a.ts';", 1],
    ['src/apiserver/registry/apps/a.ts', "import { a } from '../../watch-cache/a.ts';", 0],
    ['src/apiserver/handlers/a.ts', "import { a } from '../server.ts';", 1],
    ['src/controllers/job/a.test.ts', "import { a } from '../deployment/a.ts';", 0],
  ])('finds in %s the faults of %s', (path, text, faults) => {
    expect(folderFaults(sourceFile(path, text))).toHaveLength(faults);
  });
});
