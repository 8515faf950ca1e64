import { writeFileSync } from 'node:fs';
import { type Benchmark, type BenchmarkResult, runBenchmark } from './harness.ts';

export interface Selection {
  /** Benchmarks whose name contains one of these; all, without names. */
  readonly names: readonly string[];
  readonly withLong: boolean;
}

/** Runs the selected ones, and writes the results to `file`. */
export async function runToFile(benchmarks: readonly Benchmark[], { names, withLong }: Selection, file: string): Promise<void> {
  const results: BenchmarkResult[] = [];
  for (const benchmark of benchmarks) {
    if (names.length > 0 && !names.some((name) => benchmark.name.includes(name))) continue;
    if (benchmark.isLong && !withLong) continue;
    process.stderr.write(`measuring ${benchmark.name}…\n`);
    results.push(await runBenchmark(benchmark));
  }
  writeFileSync(file, JSON.stringify(results));
}
