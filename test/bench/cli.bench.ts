import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Benchmark } from './harness.ts';

const run = promisify(execFile);

async function milliseconds(args: string[]): Promise<number> {
  const start = performance.now();
  await run(process.execPath, args);
  return performance.now() - start;
}

export const benchmarks: Benchmark[] = [
  {
    kind: 'macro',
    name: 'cli: sampan --help',
    unit: 'ms',
    better: 'lower',
    rounds: 10,
    baseline: { name: 'node -e 0', measure: () => milliseconds(['-e', '0']) },
    subject: { name: 'sampan --help', measure: () => milliseconds(['dist/sampan.js', '--help']) },
  },
];
