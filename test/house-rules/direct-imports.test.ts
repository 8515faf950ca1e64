import path from 'node:path';
import { expect, test } from 'vitest';
import { DirectImports } from '../../scripts/direct-imports.mjs';
import { ROOT, readSourceTree } from './source-tree.ts';

const src = (file: string) => JSON.stringify(path.join(ROOT, 'src', file));

test.each([
  ["import { startDns } from '#dns';", `import { startDns as startDns } from ${src('dns/start-dns.ts')};`],
  ["import { type Clock, realClock } from '#base';", `import { realClock as realClock } from ${src('base/time/clock.ts')};`],
  ["import { core } from '#api';", `import * as core from ${src('api/core/v1/index.ts')};`],
  ["import { cel as expressions } from '#machinery';", `import * as expressions from ${src('machinery/cel/index.ts')};`],
  ["import type { Clock } from '#base';", "import type { Clock } from '#base';"],
  ["import { readFile } from 'node:fs';", "import { readFile } from 'node:fs';"],
])('bundles have %s as %s', (source, expected) => {
  expect(new DirectImports().rewrite(source)).toBe(expected);
});

test('an import over several lines keeps the lines that follow in place', () => {
  const rewritten = new DirectImports().rewrite("import {\n  core,\n  type Kind,\n} from '#api';\nlast");
  expect(rewritten.split('\n')).toHaveLength(5);
});

test('no bundled source imports values through the index of a directory', () => {
  const imports = new DirectImports();
  const left = readSourceTree()
    .filter(({ isTest }) => !isTest)
    .flatMap(({ path: file, text }) =>
      (imports.rewrite(text).match(/^.*import \{.*\} from '#.*$/gm) ?? []).map((line) => `${file}: ${line}`),
    );
  expect(left).toEqual([]);
});
