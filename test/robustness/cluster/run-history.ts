import { createLogger, seededRandom, silentLogger } from '#base';
import { unsettled } from './convergence.ts';
import { Invariants } from './invariants.ts';
import { type Change, ObservedState } from './observed-state.ts';
import { ShakyCluster } from './shaky-cluster.ts';
import { Steps } from './steps.ts';
import { createWorkloads } from './workloads.ts';

export interface HistoryOptions {
  readonly seed: string;
  readonly steps: number;
  /** Prints the components' logs, for debugging. */
  readonly verbose?: boolean;
  /** Called for every write, for debugging. */
  readonly trace?: (change: Change) => void;
}

export interface HistoryResult {
  /** All writes in the store, in order. */
  readonly writes: readonly string[];
}

/** The longest time for an undisturbed cluster to converge. */
const PATIENCE_MS = 30 * 60_000;
const LOOK_EVERY_MS = 15_000;

/** Runs the random history of a seed. Throws, with the seed and the history, when an invariant is violated. */
export async function runHistory({ seed, steps: count, verbose = false, trace }: HistoryOptions): Promise<HistoryResult> {
  const history: string[] = [];
  const logger = verbose
    ? createLogger({ clock: { now: () => cluster?.clock.now() ?? 0 } as never, write: (line) => console.error(line) })
    : silentLogger;
  let cluster: ShakyCluster | undefined;
  try {
    cluster = await ShakyCluster.start(seed, logger);
    return await happen(cluster, { seed, count, history, trace });
  } catch (error) {
    throw new Error(`${(error as Error).message}\nseed: ${seed}\nhistory:\n${history.join('\n')}`, { cause: error });
  } finally {
    await cluster?.[Symbol.asyncDispose]();
  }
}

interface Run {
  readonly seed: string;
  readonly count: number;
  readonly history: string[];
  readonly trace: HistoryOptions['trace'];
}

async function happen(cluster: ShakyCluster, run: Run): Promise<HistoryResult> {
  using state = new ObservedState(cluster.store, cluster.clock, run.trace);
  const invariants = new Invariants(state, cluster);
  const tell = (text: string) => run.history.push(`${new Date(cluster.clock.now()).toISOString().slice(11, 23)} ${text}`);
  const check = () => {
    if (invariants.faults.length > 0) throw new Error(invariants.faults.join('\n'));
  };
  await createWorkloads(cluster);
  await cluster.clock.advance(20_000);
  invariants.guard();
  cluster.network.isShaky = true;
  const steps = new Steps(cluster, seededRandom(`${run.seed} history`));
  for (let i = 0; i < run.count; i++) {
    tell(await steps.next());
    check();
  }
  await steps.heal();
  tell('everything is mended');
  await comeToRest(cluster, check);
  return { writes: state.writes };
}

async function comeToRest(cluster: ShakyCluster, check: () => void): Promise<void> {
  const deadline = cluster.clock.now() + PATIENCE_MS;
  for (;;) {
    await cluster.clock.advance(LOOK_EVERY_MS);
    check();
    const faults = await cluster.until(unsettled(cluster));
    if (faults.length === 0) return;
    if (cluster.clock.now() > deadline) throw new Error(faults.join('\n'));
  }
}
