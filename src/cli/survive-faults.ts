import type { Logger, MetricsRegistry } from '#base';

export interface FaultDeps {
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

/**
 * An unhandled error is a bug, but no reason to stop a cluster: it is logged and counted, and the
 * process continues. Until disposed.
 */
export function surviveFaults(source: Pick<NodeJS.Process, 'on' | 'off'>, { logger, metrics }: FaultDeps): Disposable {
  const total = metrics.counter({
    name: 'sampan_unhandled_errors_total',
    help: 'Errors that no part of the program handled.',
    labels: ['kind'],
  });
  const report = (kind: string) => (error: unknown) => {
    total.with({ kind }).inc();
    logger.error('an error was not handled anywhere: this is a bug, please report it with this line; the process goes on', { kind, error });
  };
  const [onRejection, onException] = [report('rejection'), report('exception')];
  source.on('unhandledRejection', onRejection);
  source.on('uncaughtException', onException);
  return {
    [Symbol.dispose]() {
      source.off('unhandledRejection', onRejection);
      source.off('uncaughtException', onException);
    },
  };
}
