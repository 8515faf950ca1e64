import { collectorEndpoint } from '#base';
import { FieldError, type Fields, fieldsOfKind, isJsonObject, Path, parseYaml, StrictConfigurationReader } from '#machinery';

/** A validated TracingConfiguration. */
export interface TracingConfiguration {
  /** As gRPC takes it: `http://host:port` or `unix:///path`. */
  readonly endpoint: string;
  readonly samplingRatePerMillion: number;
}

const VERSIONS = ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1', 'apiserver.config.k8s.io/v1alpha1'];
const MILLION = 1_000_000;

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
    this.rejectUnknownFields(fields, ['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion'], '');
    const range = { fallback: 0, min: -(2 ** 31) };
    const rate = this.number(fields.samplingRatePerMillion, 'samplingRatePerMillion', range);
    const path = Path.of('samplingRatePerMillion');
    if (rate < 0) this.errors.push(FieldError.invalid(path, rate, 'sampling rate must be positive'));
    if (rate > MILLION)
      this.errors.push(FieldError.invalid(path, rate, 'sampling rate per million must be less than or equal to one million'));
    return { endpoint: this.#endpoint(this.text(fields.endpoint, 'endpoint', '') || undefined), samplingRatePerMillion: rate };
  }

  #endpoint(text: string | undefined): string {
    const { endpoint, name, problem } = collectorEndpoint(text);
    if (problem !== undefined) this.errors.push(FieldError.invalid(Path.of('endpoint'), name, problem));
    return endpoint;
  }
}
