import { writeFileSync } from 'node:fs';
import { type Benchmark, type BenchmarkResult, runBenchmark } from './harness.ts';

/** Runs the benchmarks whose name contains one of `names` (default: all), and writes the results to `file`. */
export async function runToFile(benchmarks: readonly Benchmark[], names: readonly string[], file: string): Promise<void> {
  const results: BenchmarkResult[] = [];
  for (const benchmark of benchmarks) {
    if (names.length > 0 && !names.some((name) => benchmark.name.includes(name))) continue;
    process.stderr.write(`measuring ${benchmark.name}…\n`);
    results.push(await runBenchmark(benchmark));
  }
  writeFileSync(file, JSON.stringify(results));
}
