import type { Clock, Logger, MetricsRegistry, Random } from '#base';
import type { Client, EventRecorder, InformerFactory } from '#client';
import type { ControllerOptions } from '../options.ts';

/** A controller's dependencies. */
export interface ControllerContext {
  /** As in `--controllers`. */
  readonly name: string;
  /** With this controller's own identity. */
  readonly client: Client;
  /** Shared by all controllers. Informers requested before `start` returns are synced before `run`. */
  readonly informers: InformerFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Events under the name that upstream's controller gives as their source: `replicaset-controller`, `job-controller`… */
  recorder(component: string): EventRecorder;
  readonly options: ControllerOptions;
  /** Aborts when the controller is to stop. */
  readonly signal: AbortSignal;
}

export interface Controller {
  /** As in `--controllers`. */
  readonly name: string;
  /** Older names of it that `--controllers` takes too. */
  readonly aliases?: readonly string[];
  /** Whether `*` enables it. */
  readonly enabledByDefault: boolean;
  /** Registers with informers and makes queues; nothing runs yet. Undefined: its configuration leaves it nothing to do. */
  start(context: ControllerContext): RunningController | undefined;
}

export interface RunningController {
  /** Called once the informers are in sync; resolves when the context's signal aborted and nothing is left running. */
  run(): Promise<void>;
}
