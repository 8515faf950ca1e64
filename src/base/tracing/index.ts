export { type CollectorEndpoint, collectorEndpoint } from './collector-endpoint.ts';
export { EXPORT_TRACES, SpanMessage } from './otlp-messages.ts';
export { type Attributes, type AttributeValue, SPAN_KIND, Span } from './span.ts';
export { type ExporterOptions, SpanExporter } from './span-exporter.ts';
export { formatTraceparent, parseTraceparent, type TraceContext } from './trace-context.ts';
export { type ChildOptions, type StartOptions, Tracer, type TracerOptions } from './tracer.ts';
