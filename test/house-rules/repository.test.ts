import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, readSourceTree } from './source-tree.ts';

const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const manifest = JSON.parse(read('package.json'));

test('every dependency has an exact version', () => {
  const versions = Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test('the lock file fits package.json, and names no particular registry', () => {
  const lock = JSON.parse(read('package-lock.json'));
  const root = lock.packages[''];
  expect({ ...root.dependencies, ...root.devDependencies }).toEqual({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(read('package-lock.json')).not.toMatch(/"resolved":/);
});

test('the lock file has the optional packages of every platform, or npm ci would refuse it', () => {
  const { packages } = JSON.parse(read('package-lock.json'));
  const dependencies = Object.values<{ optionalDependencies?: object }>(packages).flatMap((entry) =>
    Object.keys(entry.optionalDependencies ?? {}),
  );
  expect(dependencies.filter((name) => !(`node_modules/${name}` in packages))).toEqual([]);
});

test('files are named in kebab-case after what is in them', () => {
  const names = readSourceTree().map((file) => file.path);
  expect(names.filter((name) => !/^src(\/[a-z0-9]+([-.][a-z0-9]+)*)+\.ts$/.test(name))).toEqual([]);
  expect(names.filter((name) => /\/(utils?|helpers?|common|misc|shared)(\.|\/)/.test(name))).toEqual([]);
});

test('a file of more than 400 lines says why it is one file', () => {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], { cwd: ROOT, encoding: 'utf8' });
  const texts = tracked
    .trimEnd()
    .split('\n')
    .filter((name) => existsSync(path.join(ROOT, name)))
    .map((name) => ({ name, text: read(name) }));
  const long = texts.filter(({ text }) => text.split('\n').length > 401 && !text.includes('// One file: '));
  expect(long.map(({ name }) => name)).toEqual([]);
});

test('no file is so long that nobody reads it', () => {
  const long = readSourceTree().map((file) => ({ path: file.path, lines: file.text.split('\n').length }));
  expect(long.filter(({ lines }) => lines > 600)).toEqual([]);
});

test('nothing that is committed is built or fetched', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  expect(tracked.filter((name) => /^(dist|node_modules|coverage|\.sampan)\//.test(name))).toEqual([]);
});
