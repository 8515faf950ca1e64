import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { transform } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { consoleSteps, type Fence, outputPattern, readMarkdown } from './markdown.ts';
import { ROOT } from './source-tree.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'sampan-examples-'));
symlinkSync(path.join(ROOT, 'dist/sampan.js'), path.join(directory, 'sampan'));
// Inside the repository, so that Node resolves `sampan` to this package.
const programs = path.join(ROOT, '.sampan/examples');
const env = { ...process.env, PATH: `${directory}${path.delimiter}${process.env.PATH}`, NO_COLOR: '1' };

afterAll(() => {
  for (const path of [directory, programs]) rmSync(path, { recursive: true, force: true });
});

function bash(script: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `exec 2>&1; ${script}`], { cwd: ROOT, env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

async function runExample({ language, text, at }: Fence): Promise<void> {
  if (language === 'sh') {
    const { status, output } = bash(`set -euo pipefail\n${text}`);
    expect(status, output).toBe(0);
  } else if (language === 'console') {
    for (const { command, output } of consoleSteps(text)) expect(bash(command).output).toMatch(outputPattern(output));
  } else if (language === 'ts') {
    await runProgram(text);
  } else expect.unreachable(`${at}: examples in ${language} cannot be run`);
}

async function runProgram(text: string): Promise<void> {
  mkdirSync(programs, { recursive: true });
  const file = path.join(mkdtempSync(path.join(programs, 'example-')), 'example.mjs');
  writeFileSync(file, (await transform(text, { loader: 'ts', format: 'esm', target: 'node20' })).code);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: ROOT, env, encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
}

const examples = readMarkdown()
  .flatMap((file) => file.fences)
  .filter((fence) => fence.marks.includes('test'));

describe('examples in Markdown', () => {
  test('there are some', () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  test.each(examples.map((fence) => [fence.at, fence] as const))('%s does what it says', async (_at, fence) => {
    await runExample(fence);
  });
});

describe('the rule itself', () => {
  const example = (language: string, text: string): Fence => ({ at: 'here', language, marks: ['test'], text });

  test.each([
    ['a script that fails', example('sh', 'true\nfalse\ntrue\n')],
    ['output that differs', example('console', '$ echo a\nb\n')],
    ['output that is missing', example('console', '$ true\na\n')],
    ['output that is not mentioned', example('console', '$ printf "a\\nb\\n"\na\n')],
    ['a program that throws', example('ts', "throw new Error('x' as string);\n")],
    ['a language that cannot be run', example('python', 'pass\n')],
  ])('finds %s', async (_name, fence) => {
    await expect(runExample(fence)).rejects.toThrow();
  });

  test.each([
    ['a script', example('sh', 'true | true\n')],
    ['output with gaps', example('console', '$ printf "a 1 b\\nx\\ny\\nend\\n"\na … b\n…\nend\n')],
    ['a program', example('ts', "import * as sampan from 'sampan';\nconst all: object = sampan;\nvoid all;\n")],
  ])('accepts %s', async (_name, fence) => {
    await runExample(fence);
  });
});
