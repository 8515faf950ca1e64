import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCycles } from './cycles.ts';
import { LAYERS, PURE_BUILTINS, PURE_LAYERS } from './layers.ts';
import { isTestPath, ROOT, readSourceTree, resolveImport, type SourceFile, sourceFile } from './source-tree.ts';

const files = readSourceTree();
const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

/** The faults of each import of the file. */
function importFaults(file: SourceFile): string[] {
  return file.imports.flatMap(({ specifier }) => {
    const fault = importFault(file, specifier);
    return fault ? [`${file.path}: '${specifier}' ${fault}`] : [];
  });
}

function importFault(file: SourceFile, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return layerFault(file, specifier.slice(1));
  if (!specifier.startsWith('.')) return packageFault(file, specifier);
  const target = resolveImport(file.path, specifier) as string;
  if (file.layer !== '' && !target.startsWith(`src/${file.layer}/`)) return 'leaves its directory: import #name instead';
  return !file.isTest && isTestPath(target) ? 'is for tests' : undefined;
}

function layerFault(file: SourceFile, target: string): string | undefined {
  // A test may import its own layer by name.
  if (target === file.layer) return file.isTest ? undefined : 'is its own layer: import the file instead';
  return LAYERS[file.layer]?.includes(target) ? undefined : `is not among what ${file.layer || 'src/index.ts'} may import`;
}

function packageFault(file: SourceFile, specifier: string): string | undefined {
  if (specifier.startsWith('node:')) {
    const pure = !PURE_LAYERS.includes(file.layer) || file.isTest || PURE_BUILTINS.includes(specifier);
    return pure ? undefined : `does I/O, and ${file.layer} does none`;
  }
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (name in manifest.dependencies || (file.isTest && name in manifest.devDependencies)) return undefined;
  return 'is not among the dependencies in package.json (built-in modules are spelled node:…)';
}

/** Production files that only tests import, except those that the package exports. */
function testOnlyFiles(tree: readonly SourceFile[]): readonly string[] {
  const importers = new Map<string | undefined, SourceFile[]>();
  for (const file of tree)
    for (const { specifier } of file.imports) {
      const target = resolveImport(file.path, specifier);
      importers.set(target, [...(importers.get(target) ?? []), file]);
    }
  return tree
    .filter(({ path: name, isTest }) => !isTest && !name.endsWith('/index.ts') && importers.get(name)?.every((file) => file.isTest))
    .map((file) => file.path);
}

describe('imports', () => {
  test('follow the table of layers', () => {
    expect(files.flatMap(importFaults)).toEqual([]);
  });

  test('lead to files that exist', () => {
    const missing = files.flatMap((file) =>
      file.imports
        .map(({ specifier }) => resolveImport(file.path, specifier))
        .filter((target) => target !== undefined && !existsSync(path.join(ROOT, target)))
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(missing).toEqual([]);
  });

  test('a file that only tests import has a name for tests', () => {
    expect(testOnlyFiles(files)).toEqual([]);
  });

  test('have no cycles', () => {
    expect(findCycles(files)).toEqual([]);
  });

  test('every directory under src/ is in the table, and has its name in package.json', () => {
    const layers = [...new Set(files.map((file) => file.layer))].filter((layer) => layer !== '');
    expect(layers.filter((layer) => !(layer in LAYERS))).toEqual([]);
    // The command line is imported by nothing.
    const unnamed = layers.filter((layer) => layer !== 'cli' && manifest.imports[`#${layer}`]?.source !== `./src/${layer}/index.ts`);
    expect(unnamed).toEqual([]);
  });
});

describe('the rule itself', () => {
  test('finds a file that only tests import', () => {
    const tree = [sourceFile('src/api/a.ts', ''), sourceFile('src/api/a.test.ts', "import { a } from './a.ts';")];
    expect(testOnlyFiles(tree)).toEqual(['src/api/a.ts']);
    expect(testOnlyFiles([...tree, sourceFile('src/api/b.ts', "import { a } from './a.ts';")])).toEqual([]);
  });

  const cases: [string, string, string, RegExp | undefined][] = [
    ['allows a layer below', 'src/api/pod.ts', "import { a } from '#base';", undefined],
    ['finds a layer above', 'src/base/clock.ts', "import type { Pod } from '#api';", /not among what base may import/],
    ['finds a peer', 'src/kubelet/a.ts', "import { a } from '#scheduler';", /not among/],
    ['finds the store under a peer', 'src/scheduler/a.ts', "export { a } from '#store';", /not among/],
    ['finds a dynamic import', 'src/store/a.ts', "async () => await import('#api');", /not among/],
    ['finds a relative import that leaves', 'src/api/core/pod.ts', "import {\n  a,\n} from '../../base/clock.ts';", /leaves its directory/],
    ['finds a layer that imports itself', 'src/api/pod.ts', "import { a } from '#api';", /its own layer/],
    ['allows a test to import its own layer', 'src/api/pod.test.ts', "import { a } from '#api';", undefined],
    ['finds I/O in a pure layer', 'src/machinery/a.ts', "import { readFileSync } from 'node:fs';", /does I\/O/],
    ['finds a development dependency', 'src/store/a.ts', "import fc from 'fast-check';", /dependencies in package.json/],
    ['finds a built-in module without its prefix', 'src/store/a.ts', "import fs from 'fs';", /node:…/],
    ['allows a contract to import what tests do', 'src/store/contract.ts', "import { test } from 'vitest';", undefined],
    ['finds a contract in what runs', 'src/store/index.ts', "export { contract } from './contract.ts';", /is for tests/],
    ['is not misled by comments', 'src/base/a.ts', "// import { a } from '#api';\n/**\n * import { a } from '#api';\n */", undefined],
  ];
  test.each(cases)('%s', (_name, file, text, fault) => {
    const faults = importFaults(sourceFile(file, text));
    if (fault) expect(faults).toEqual([expect.stringMatching(fault)]);
    else expect(faults).toEqual([]);
  });

  test('finds a cycle over several files, also through an index, but not one of types alone', () => {
    const cycle = [
      sourceFile('src/base/index.ts', "export { a } from './a.ts';"),
      sourceFile('src/base/a.ts', "import { b } from './b.ts';"),
      sourceFile('src/base/b.ts', "import { a } from '#base';\nimport type { C } from './c.ts';"),
      sourceFile('src/base/c.ts', "import { type B, type C as D } from './b.ts';"),
    ];
    expect(findCycles(cycle)).toEqual(['src/base/index.ts → src/base/a.ts → src/base/b.ts → src/base/index.ts']);
  });
});
