import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SAMPAN = path.join(ROOT, 'dist/sampan.js');
const run = promisify(execFile);

test('the built program runs by itself from any directory', async () => {
  const { stdout, stderr } = await run(SAMPAN, ['--version'], { cwd: '/' });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^sampan \d/), '']);
});

test('the built program exits with 2 on bad usage, and shows no stack trace', () => {
  const { status, stderr } = spawnSync(SAMPAN, ['verison'], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toBe("error: unknown command 'verison'\nhint: did you mean version? Otherwise see 'sampan --help'\n");
});

/** The files that Node loads before the first command runs: one file with its static imports. */
function staticImports(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, target] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];$/gm)) {
    staticImports(path.resolve(path.dirname(file), target as string), seen);
  }
  return seen;
}

test('help loads a few small files, so that it answers at once', () => {
  const [, main] = /import\("(\.\/chunks\/main[^"]*)"\)/.exec(readFileSync(SAMPAN, 'utf8')) ?? [];
  const files = [SAMPAN, ...staticImports(path.resolve(path.dirname(SAMPAN), main as string))];
  expect(files.length).toBeGreaterThan(1);
  expect(files.length).toBeLessThanOrEqual(6);
  expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(200_000);
});

test('servers start from code that the build compiled, and without it', async () => {
  const help = async (env: NodeJS.ProcessEnv) => (await run(SAMPAN, ['up', '--help'], { env: { ...process.env, ...env } })).stdout;
  const cache = path.join(ROOT, 'dist/server.code-cache');
  expect(statSync(cache).size).toBeGreaterThan(2_000_000);
  // V8 rejects code that was compiled under other flags.
  expect(await help({ NODE_OPTIONS: '--max-semi-space-size=8' })).toBe(await help({}));
});

test('the completion for bash completes commands, their options and their choices', async () => {
  const complete = async (...words: string[]) => {
    const script = `source <('${SAMPAN}' completion bash); COMP_WORDS=(sampan ${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length}; _sampan; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return (await run('bash', ['-c', script])).stdout.trim().split('\n');
  };
  expect(await complete('ver')).toEqual(['version']);
  expect(await complete('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish', '--help']));
  expect(await complete('version', '--out')).toEqual(['--output']);
});

test.each(['zsh', 'fish'])('the completion for %s names every command', async (shell) => {
  const { stdout } = await run(SAMPAN, ['completion', shell]);
  for (const word of ['completion', 'version', 'help', 'output']) expect(stdout).toContain(word);
});

test('a reader that stops reading is no error', async () => {
  const { stdout } = await run('bash', ['-c', `'${SAMPAN}' completion zsh | head -c 1; echo " \${PIPESTATUS[0]}"`]);
  expect(stdout).toBe('# 0\n');
});
