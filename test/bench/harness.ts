/** One way to do the work. */
export interface Contender {
  name: string;
  run: () => unknown;
}

/** The time of one call, of ours and of a baseline, measured turn by turn in the same process. */
export interface MicroBenchmark {
  kind: 'micro';
  name: string;
  /** The baseline: the simplest or the usual implementation. */
  baseline: Contender;
  subject: Contender;
}

export interface MacroContender {
  name: string;
  /** Runs the whole load once and returns its figure. */
  measure: () => Promise<number>;
}

/** Any figure of a longer run: seconds, requests a second, megabytes. */
export interface MacroBenchmark {
  kind: 'macro';
  name: string;
  unit: string;
  better: 'lower' | 'higher';
  /** How often each is measured. Default 5. */
  rounds?: number;
  baseline: MacroContender;
  subject: MacroContender;
}

export type Benchmark = (MicroBenchmark | MacroBenchmark) & {
  /** Takes so long that it runs only where names are given that select it. */
  isLong?: true;
};

export interface Figure {
  name: string;
  median: number;
  /** The quartiles: a quarter of the rounds lie below the first and above the second. */
  p25: number;
  p75: number;
}

export interface BenchmarkResult {
  name: string;
  unit: string;
  better: 'lower' | 'higher';
  baseline: Figure;
  subject: Figure;
  /** Ratio to the baseline: above 1 is better, for all units. */
  ratio: number;
}

/**
 * Shares long runs between benchmarks that each report one figure of them: the nth measurement of every figure comes from the nth run,
 * which starts when it is first needed.
 */
export class SharedRuns<Run> {
  readonly #make: () => Promise<Run>;
  readonly #runs: Promise<Run>[] = [];

  constructor(make: () => Promise<Run>) {
    this.#make = make;
  }

  run(round = 0): Promise<Run> {
    this.#runs[round] ??= this.#make();
    return this.#runs[round];
  }

  figure(name: string, pick: (run: Run) => number): MacroContender {
    let round = 0;
    return { name, measure: async () => pick(await this.run(round++)) };
  }
}

const MICRO_ROUNDS = 15;
const MICRO_ROUND_MS = 20;
/** Code with many functions is warmed up until all of them are compiled, as in a long-running server. */
const WARM_UP_MS = 500;

export async function runBenchmark(benchmark: Benchmark): Promise<BenchmarkResult> {
  const { name } = benchmark;
  if (benchmark.kind === 'macro') {
    const { unit, better, rounds = 5 } = benchmark;
    const [baseline, subject] = await alternate(rounds, benchmark.baseline, benchmark.subject);
    return result({ name, unit, better, baseline, subject });
  }
  const [baseline, subject] = await alternate(MICRO_ROUNDS, await micro(benchmark.baseline), await micro(benchmark.subject));
  return result({ name, unit: 'ns/op', better: 'lower', baseline, subject });
}

function result(parts: Omit<BenchmarkResult, 'ratio'>): BenchmarkResult {
  return { ...parts, ratio: ratioOf(parts) };
}

/** A figure may be zero, such as the CPU time of a sleeping process. */
function ratioOf({ better, baseline: { median: baselineValue }, subject: { median: ownValue } }: Omit<BenchmarkResult, 'ratio'>): number {
  if (ownValue === baselineValue) return 1;
  const ratio = better === 'lower' ? baselineValue / ownValue : ownValue / baselineValue;
  return Math.min(ratio, Number.MAX_VALUE);
}

/** Alternates, so that load on the machine affects both. */
async function alternate(rounds: number, baseline: MacroContender, subject: MacroContender): Promise<[Figure, Figure]> {
  const figures: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    figures[0].push(await baseline.measure());
    figures[1].push(await subject.measure());
  }
  return [figure(baseline.name, figures[0]), figure(subject.name, figures[1])];
}

function figure(name: string, samples: readonly number[]): Figure {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  return { name, median: at(0.5), p25: at(0.25), p75: at(0.75) };
}

/** A contender measured in nanoseconds per call, warmed up, with enough calls per round. */
async function micro({ name, run }: Contender): Promise<MacroContender> {
  const first = run();
  const time = first instanceof Promise ? timeAsync : timeSync;
  await first;
  for (let ms = 0; ms < WARM_UP_MS; ) ms += await time(run, 16);
  let calls = 1;
  for (let ms = 0; ms < MICRO_ROUND_MS && calls < 2 ** 28; calls *= 2) ms = await time(run, calls);
  return { name, measure: async () => ((await time(run, calls)) * 1e6) / calls };
}

function timeSync(run: () => unknown, calls: number): number {
  const start = performance.now();
  for (let i = 0; i < calls; i++) run();
  return performance.now() - start;
}

async function timeAsync(run: () => unknown, calls: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < calls; i++) await run();
  return performance.now() - start;
}
