import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { consoleSteps, type Fence, outputPattern, readMarkdown } from '../house-rules/markdown.ts';
import { ROOT } from '../house-rules/source-tree.ts';

const examples = readMarkdown()
  .filter((file) => file.path === 'README.md')
  .flatMap((file) => file.fences)
  .filter((fence) => fence.marks.includes('cluster'));

type Env = Record<string, string | undefined>;

function bash(script: string, env: Env): { status: number | null; output: string } {
  const { status, stdout } = spawnSync('bash', ['-c', `exec 2>&1; ${script}`], { cwd: ROOT, env, encoding: 'utf8', timeout: 60_000 });
  return { status, output: stdout };
}

function runOnCluster({ language, text, at }: Fence, env: Env): void {
  if (language === 'console') {
    for (const { command, output } of consoleSteps(text)) expect(bash(command, env).output).toMatch(outputPattern(output));
  } else {
    const { status, output } = bash(`set -euo pipefail\n${text}`, env);
    expect(status, `${at}: ${output}`).toBe(0);
  }
}

async function stop(cluster: ChildProcess): Promise<void> {
  if (cluster.exitCode !== null) return;
  const exited = once(cluster, 'exit');
  cluster.kill('SIGTERM');
  await exited;
}

// One cluster for all of them, in the order of the README: later examples build on earlier ones.
test.runIf(examples.length > 0)('the examples of the README that need a cluster work on one that npm start started', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'sampan-readme-'));
  const env: Env = { ...process.env, HOME: home, KUBECONFIG: path.join(home, '.kube/config'), NO_COLOR: '1' };
  const cluster = spawn(process.execPath, ['scripts/start.mjs', '--runtime', 'simulated'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await expect.poll(() => bash('kubectl get --raw /readyz', env).output, { timeout: 60_000, interval: 250 }).toBe('ok');
    for (const example of examples) runOnCluster(example, env);
  } finally {
    await stop(cluster);
    rmSync(home, { recursive: true });
  }
});
