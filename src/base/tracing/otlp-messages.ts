import { field, message, optional, repeated } from '../grpc/message-table.ts';

/** The used part of OpenTelemetry's protocol: `TraceService/Export` and its messages. */
const AnyValue = message({ text: optional(1, 'string'), flag: optional(2, 'bool'), number: optional(3, 'int64') });
const KeyValue = message({ key: field(1, 'string'), value: field(2, AnyValue) });
const Link = message({ traceId: field(1, 'bytes'), spanId: field(2, 'bytes') });

export const SpanMessage = message({
  traceId: field(1, 'bytes'),
  spanId: field(2, 'bytes'),
  parentSpanId: field(4, 'bytes'),
  name: field(5, 'string'),
  kind: field(6, 'int32'),
  startTimeUnixNano: field(7, 'fixed64'),
  endTimeUnixNano: field(8, 'fixed64'),
  attributes: repeated(9, KeyValue),
  links: repeated(13, Link),
  status: field(15, message({ message: field(2, 'string'), code: field(3, 'int32') })),
});

const Resource = message({ attributes: repeated(1, KeyValue) });
const ScopeSpans = message({ scope: field(1, message({ name: field(1, 'string') })), spans: repeated(2, SpanMessage) });
const ResourceSpans = message({ resource: field(1, Resource), scopeSpans: repeated(2, ScopeSpans) });

export const EXPORT_TRACES = {
  name: 'opentelemetry.proto.collector.trace.v1.TraceService/Export',
  request: message({ resourceSpans: repeated(1, ResourceSpans) }),
  response: message({}),
};
