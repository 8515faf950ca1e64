export interface CollectorEndpoint {
  /** As gRPC takes it: `http://host:port` or `unix:///path`. */
  readonly endpoint: string;
  /** The full name of the target, as messages print it. */
  readonly name: string;
  /** Why it cannot be used. */
  readonly problem?: string;
}

const DEFAULT_ENDPOINT = 'localhost:4317';
const SCHEMES = 'Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md';

/** The `endpoint` of upstream's TracingConfiguration, with upstream's message for others. */
export function collectorEndpoint(text: string = DEFAULT_ENDPOINT): CollectorEndpoint {
  const name = text.includes('//') ? text : `dns://${text}`;
  const scheme = name.slice(0, name.indexOf(':'));
  if (scheme === 'unix') return { endpoint: name, name };
  if (scheme === 'dns') return { endpoint: `http://${name.slice(name.lastIndexOf('/') + 1)}`, name };
  const problem =
    scheme === 'unix-abstract' ? 'abstract unix sockets are not supported here' : `unsupported scheme: ${scheme}.  ${SCHEMES}`;
  return { endpoint: name, name, problem };
}
