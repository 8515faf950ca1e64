import type { ConfigurationReader, Fields } from '#machinery';
import { isZero } from './fields-without-effect.ts';

/** Settings of the proxy's own process: without an effect in `sampan up`. */
export interface ProcessSettings {
  /** The path of a kubeconfig. */
  readonly kubeconfig?: string;
  /** Requests to the API server. Absent: unlimited. */
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number };
  readonly logging: { readonly verbosity?: number; readonly format?: 'text' | 'json' };
  /** Settings without an effect here, one sentence each. */
  readonly withoutEffect: readonly string[];
}

const JSON_TYPE = /^application\/json\b/;
const LOG_STREAM = 'there is one stream of logs, on standard error';

export function readProcessSettings(reader: ConfigurationReader, fields: Fields): ProcessSettings {
  const client = reader.object(fields.clientConnection, 'clientConnection');
  const logging = reader.object(fields.logging, 'logging');
  return {
    ...connectionSettings(reader, client),
    logging: loggingSettings(reader, logging),
    withoutEffect: [
      ...contentTypes(reader, client),
      ...['flushFrequency', 'options', 'vmodule'].filter((name) => !isZero(logging[name])).map((name) => `logging.${name}: ${LOG_STREAM}`),
    ],
  };
}

/** As client-go reads them: 0 is the default, a negative rate is unlimited. */
function connectionSettings(reader: ConfigurationReader, client: Fields): Pick<ProcessSettings, 'kubeconfig' | 'rateLimit'> {
  const path = 'clientConnection';
  reader.rejectUnknownFields(client, ['kubeconfig', 'acceptContentTypes', 'contentType', 'qps', 'burst'], path);
  const kubeconfig = reader.text(client.kubeconfig, `${path}.kubeconfig`, '');
  const qps = reader.rate(client.qps, `${path}.qps`, 0);
  const burst = reader.number(client.burst, `${path}.burst`, { fallback: 0, min: 0 });
  if (burst > 0 && qps <= 0) reader.fail(`${path}.burst`, 'goes with qps, which is not set');
  return {
    ...(kubeconfig !== '' && { kubeconfig }),
    ...(qps > 0 && { rateLimit: { perSecond: qps, burst: burst || Math.max(1, Math.ceil(qps * 2)) } }),
  };
}

function contentTypes(reader: ConfigurationReader, client: Fields): readonly string[] {
  return ['contentType', 'acceptContentTypes'].flatMap((name) => {
    const type = reader.text(client[name], `clientConnection.${name}`, '');
    return type === '' || JSON_TYPE.test(type) ? [] : [`clientConnection.${name}: objects are exchanged as JSON`];
  });
}

function loggingSettings(reader: ConfigurationReader, logging: Fields): ProcessSettings['logging'] {
  reader.rejectUnknownFields(logging, ['format', 'verbosity', 'flushFrequency', 'options', 'vmodule'], 'logging');
  const verbosity = reader.number(logging.verbosity, 'logging.verbosity', { fallback: 0, min: 0 });
  const format = reader.text(logging.format, 'logging.format', '');
  if (format !== '') reader.oneOf(format, 'logging.format', ['text', 'json']);
  return { ...(verbosity > 0 && { verbosity }), ...(format !== '' && { format: format as 'text' | 'json' }) };
}
