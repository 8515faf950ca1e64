import { FieldError, type Fields, fieldsOfKind, isJsonObject, Path, parseYaml, StrictConfigurationReader } from '#machinery';

/** A validated TracingConfiguration. */
export interface TracingConfiguration {
  /** As gRPC takes it: `http://host:port` or `unix:///path`. */
  readonly endpoint: string;
  readonly samplingRatePerMillion: number;
}

const VERSIONS = ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1', 'apiserver.config.k8s.io/v1alpha1'];
const DEFAULT_ENDPOINT = 'localhost:4317';
const MILLION = 1_000_000;
const SCHEMES = 'Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md';

/** Throws with upstream's messages. */
export function parseTracingConfiguration(text: string): TracingConfiguration {
  const { value } = parseYaml(Buffer.from(text));
  if (!isJsonObject(value)) throw new Error("unable to decode tracing configuration data: Object 'Kind' is missing");
  const reader = new TracingReader();
  const configuration = reader.configuration(fieldsOfKind(value, 'TracingConfiguration', VERSIONS));
  reader.throwIfInvalid();
  return configuration;
}

class TracingReader extends StrictConfigurationReader {
  configuration(fields: Fields): TracingConfiguration {
    this.refuseUnknownFields(fields, ['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion'], '');
    const range = { fallback: 0, min: -(2 ** 31) };
    const rate = this.number(fields.samplingRatePerMillion, 'samplingRatePerMillion', range);
    const path = Path.of('samplingRatePerMillion');
    if (rate < 0) this.errors.push(FieldError.invalid(path, rate, 'sampling rate must be positive'));
    if (rate > MILLION)
      this.errors.push(FieldError.invalid(path, rate, 'sampling rate per million must be less than or equal to one million'));
    return { endpoint: this.#endpoint(this.text(fields.endpoint, 'endpoint', DEFAULT_ENDPOINT)), samplingRatePerMillion: rate };
  }

  #endpoint(text: string): string {
    const name = text.includes('//') ? text : `dns://${text}`;
    const scheme = name.slice(0, name.indexOf(':'));
    if (scheme === 'unix') return name;
    if (scheme === 'dns') return `http://${name.slice(name.lastIndexOf('/') + 1)}`;
    const detail =
      scheme === 'unix-abstract' ? 'abstract unix sockets are not supported here' : `unsupported scheme: ${scheme}.  ${SCHEMES}`;
    this.errors.push(FieldError.invalid(Path.of('endpoint'), name, detail));
    return name;
  }
}
