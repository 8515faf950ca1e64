import { childSignal, isAbort, type OwnedSignal } from './async/abort.ts';

/** The result of every `startX(config, deps, signal)`: a running component. */
export interface Component extends AsyncDisposable {
  /** Resolves when the component works; rejects if it could not start, or was stopped first. */
  readonly ready: Promise<void>;
  /** Resolves when it has stopped and released everything; rejects if it failed after it was ready. */
  readonly done: Promise<void>;
  /** Stops the component, if it runs, and waits for `done`. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ComponentScope {
  /** Aborts when the component is to stop. */
  readonly signal: AbortSignal;
  /** Call when the component is ready. */
  readonly ready: () => void;
}

/**
 * A component that lives as long as `run`. `run` returns after the signal aborted and everything is closed; rejecting with the signal's own reason
 * counts as a clean stop. A failure is reported once: through `ready` before the component was ready, through `done` after.
 */
export function runComponent(signal: AbortSignal | undefined, run: (scope: ComponentScope) => Promise<void>): Component {
  const stop = childSignal(signal);
  const readiness = deferred();
  const done = runToEnd({ run, readiness, stop });
  return {
    ready: readiness.promise,
    done,
    async [Symbol.asyncDispose]() {
      stop.abort(new DOMException('the component was stopped', 'AbortError'));
      await done;
    },
  };
}

/** Stops all in reverse order, even if some fail, then throws the errors. */
export async function stopAll(components: readonly (AsyncDisposable | Disposable)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const component of components.toReversed()) {
    await stop(component, failures);
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} components failed to stop`);
}

async function stop(component: AsyncDisposable | Disposable, failures: unknown[]): Promise<void> {
  try {
    if (Symbol.asyncDispose in component) await component[Symbol.asyncDispose]();
    else component[Symbol.dispose]();
  } catch (error) {
    failures.push(error);
  }
}

interface ComponentRun {
  run: (scope: ComponentScope) => Promise<void>;
  readiness: Deferred;
  stop: OwnedSignal;
}

async function runToEnd({ run, readiness, stop }: ComponentRun): Promise<void> {
  let isReady = false;
  const ready = () => {
    isReady = true;
    readiness.resolve();
  };
  try {
    await run({ signal: stop.signal, ready });
    if (!isReady) rejectQuietly(readiness, stop.signal.reason ?? new Error('the component ended before it was ready'));
  } catch (error) {
    if (stop.signal.aborted && isAbort(error, stop.signal)) rejectQuietly(readiness, error);
    else if (isReady) throw error;
    else readiness.reject(error);
  } finally {
    stop[Symbol.dispose]();
  }
}

/** A requested stop is not a failure: it must not end the process if `ready` is not awaited. */
function rejectQuietly(readiness: Deferred, reason: unknown): void {
  readiness.promise.catch(() => {});
  readiness.reject(reason);
}

interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

function deferred(): Deferred {
  let resolve: Deferred['resolve'] = () => {};
  let reject: Deferred['reject'] = () => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
