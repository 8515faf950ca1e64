import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';
import { expect, test } from 'vitest';
import { BUNDLE_OPTIONS } from '../../scripts/build.mjs';
import { ROOT } from './source-tree.ts';

const { imports } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
const names = Object.keys(imports).filter((name) => existsSync(path.join(ROOT, imports[name].source)));
const expected = Object.fromEntries(names.map((name) => [name, path.join(ROOT, imports[name].source)]));

test('Node resolves every name of a layer to its index', () => {
  const program = `console.log(JSON.stringify(Object.fromEntries(${JSON.stringify(names)}
    .map((name) => [name, new URL(import.meta.resolve(name)).pathname]))))`;
  const args = ['--conditions=source', '--input-type=module', '-e', program];
  const { stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual(expected);
});

test('Vitest resolves every name of a layer as Node does', () => {
  const resolved = names.map((name) => [name, new URL(import.meta.resolve(name)).pathname]);
  expect(Object.fromEntries(resolved)).toEqual(expected);
});

test('the bundler resolves them alike', async () => {
  const resolved: Record<string, string> = {};
  const spy: Plugin = {
    name: 'spy',
    setup({ onStart, resolve }) {
      onStart(async () => {
        for (const name of names) resolved[name] = (await resolve(name, { kind: 'import-statement', resolveDir: ROOT })).path;
      });
    },
  };
  await build({ ...BUNDLE_OPTIONS, stdin: { contents: '' }, write: false, plugins: [spy] });
  expect(resolved).toEqual(expected);
});
