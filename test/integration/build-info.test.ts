import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildInfo, currentCommit } from '../../scripts/build-info.mjs';
import { ROOT } from '../house-rules/source-tree.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'sampan-build-'));
  mkdirSync(path.join(root, 'src'));
  writeFileSync(path.join(root, 'src/a.ts'), '');
});

afterEach(() => rmSync(root, { recursive: true }));

function commit(): void {
  const author = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
  const env = { ...process.env, ...author, GIT_COMMITTER_DATE: '2026-02-03T04:05:06Z' };
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'all'],
  ])
    execFileSync('git', args, { cwd: root, env });
}

test('a build records its commit and the commit date', () => {
  commit();
  expect(buildInfo({ root, env: {} })).toEqual({
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    treeState: 'clean',
    date: '2026-02-03T04:05:06Z',
  });
  writeFileSync(path.join(root, 'notes.txt'), 'not built');
  expect(buildInfo({ root, env: {} }).treeState).toBe('clean');
  writeFileSync(path.join(root, 'src/b.ts'), '');
  expect(buildInfo({ root, env: {} }).treeState).toBe('dirty');
});

test('SOURCE_DATE_EPOCH overrides the build date', () => {
  expect(buildInfo({ root, env: { SOURCE_DATE_EPOCH: '1700000000' } }).date).toBe('2023-11-14T22:13:20Z');
  expect(() => buildInfo({ root, env: { SOURCE_DATE_EPOCH: 'now' } })).toThrow(
    "SOURCE_DATE_EPOCH must be whole seconds since 1970, not 'now'",
  );
});

test('build information outside a clone is empty', () => {
  expect(buildInfo({ root, env: {} })).toEqual({ commit: '', treeState: '', date: '1970-01-01T00:00:00Z' });
});

test('the built program reports its commit', () => {
  const { stdout } = spawnSync(process.execPath, [path.join(ROOT, 'dist/sampan.js'), 'version', '-o', 'json'], { encoding: 'utf8' });
  // An unpacked archive has no git history.
  const expected = currentCommit().commit === '' ? 'unknown' : expect.stringMatching(/^[0-9a-f]{40}(-dirty)?$/);
  expect(JSON.parse(stdout)).toMatchObject({ commit: expected, date: expect.stringMatching(/^\d{4}-.*Z$/) });
});
