import { type Clock, type Dialer, type Logger, type Random, SpanExporter, Tracer } from '#base';
import type { TracingConfiguration } from './tracing-configuration.ts';

export interface ServerTracingDeps {
  readonly logger: Logger;
  readonly random: Random;
  /** Real time: collectors are outside of the cluster's (possibly virtual) time. */
  readonly realClock: Clock;
  readonly dial?: Dialer | undefined;
}

/** The tracer of a server, with its connection to a collector. */
export interface ServerTracing extends AsyncDisposable {
  readonly tracer: Tracer;
}

/** Undefined: nothing is traced. */
export function openTracing(
  config: TracingConfiguration | undefined,
  instance: string,
  { logger, random, realClock: clock, dial }: ServerTracingDeps,
): ServerTracing | undefined {
  if (config === undefined) return undefined;
  const { endpoint, samplingRatePerMillion } = config;
  const resource = { 'service.name': 'apiserver', 'service.instance.id': instance };
  const exporter = new SpanExporter({ endpoint, resource, clock, logger, dial });
  return {
    tracer: new Tracer({ exporter, samplingRatePerMillion, clock, random }),
    [Symbol.asyncDispose]: () => exporter[Symbol.asyncDispose](),
  };
}
