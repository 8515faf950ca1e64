import type { Logger, MetricsRegistry } from '#base';

export interface FaultDeps {
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

/** Where faults come from, and where the log is written to. */
export interface FaultSource extends Pick<NodeJS.Process, 'on' | 'off'> {
  readonly stderr: Pick<NodeJS.WritableStream, 'on' | 'off'>;
}

/**
 * An unhandled error is a bug, but no reason to stop a cluster: it is logged and counted, and the
 * process continues. Until disposed.
 */
export function surviveFaults(source: FaultSource, { logger, metrics }: FaultDeps): Disposable {
  const total = metrics.counter({
    name: 'sampan_unhandled_errors_total',
    help: 'Errors that no part of the program handled.',
    labels: ['kind'],
  });
  const report = (kind: string) => (error: unknown) => {
    total.with({ kind }).inc();
    logger.error('unhandled error: this is a bug, please report it with this line; the process continues', { kind, error });
  };
  const writeErrors = metrics
    .counter({ name: 'sampan_log_write_errors_total', help: 'Lines of the log that could not be written.' })
    .with({});
  const [onRejection, onException] = [report('rejection'), report('exception')];
  // A full disk, a reader of the pipe that has gone. Logging this as an unhandled error would fail again, and again.
  const onLost = () => writeErrors.inc();
  source.stderr.on('error', onLost);
  source.on('unhandledRejection', onRejection);
  source.on('uncaughtException', onException);
  return {
    [Symbol.dispose]() {
      source.off('unhandledRejection', onRejection);
      source.off('uncaughtException', onException);
      source.stderr.off('error', onLost);
    },
  };
}
