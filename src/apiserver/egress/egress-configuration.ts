import { existsSync } from 'node:fs';
import { FieldError, type Fields, fieldsOfKind, isJsonObject, Path, parseYaml, StrictConfigurationReader } from '#machinery';

/** The destinations of the API server's traffic. */
export const EGRESS_NAMES = ['cluster', 'controlplane', 'etcd'] as const;
export type EgressName = (typeof EGRESS_NAMES)[number];

export interface EgressTls {
  readonly caBundle: string;
  readonly clientKey: string;
  readonly clientCert: string;
  readonly tlsServerName: string;
}

/** How it gets there. File names are as they are written. */
export type EgressConnection =
  | { readonly protocol: 'Direct' }
  | { readonly protocol: 'HTTPConnect' | 'GRPC'; readonly socketPath: string }
  | { readonly protocol: 'HTTPConnect'; readonly url: string; readonly tls?: EgressTls | undefined };

export type EgressConfiguration = ReadonlyMap<EgressName, EgressConnection>;

const VERSIONS = ['apiserver.k8s.io/v1alpha1', 'apiserver.k8s.io/v1beta1', 'apiserver.config.k8s.io/v1beta1'];
const PROTOCOLS = ['Direct', 'HTTPConnect', 'GRPC'];
const CONNECTION = Path.of('service').child('connection');

/** Throws with upstream's messages. */
export function parseEgressConfiguration(text: string): EgressConfiguration {
  const { value } = parseYaml(Buffer.from(text));
  if (!isJsonObject(value)) throw new Error("Object 'Kind' is missing");
  const reader = new EgressReader();
  const configuration = reader.configuration(fieldsOfKind(value, 'EgressSelectorConfiguration', VERSIONS));
  reader.throwIfInvalid();
  return configuration;
}

class EgressReader extends StrictConfigurationReader {
  configuration(fields: Fields): EgressConfiguration {
    this.rejectUnknownFields(fields, ['apiVersion', 'kind', 'egressSelections'], '');
    const selections = new Map<EgressName, EgressConnection>();
    const seen = new Set<string>();
    for (const [i, entry] of this.list(fields.egressSelections, 'egressSelections').entries()) {
      const selection = this.object(entry, `egressSelections[${i}]`);
      this.rejectUnknownFields(selection, ['name', 'connection'], `egressSelections[${i}]`);
      const name = this.text(selection.name, `egressSelections[${i}].name`, '').toLowerCase();
      const connection = this.#connection(this.object(selection.connection ?? {}, `egressSelections[${i}].connection`));
      if (seen.has(name)) this.errors.push(FieldError.duplicate(CONNECTION.index(i), name));
      else if (!isEgressName(name)) this.errors.push(FieldError.notSupported(CONNECTION, name, EGRESS_NAMES));
      else if (connection !== undefined) selections.set(name, connection);
      seen.add(name);
    }
    return selections;
  }

  #connection(fields: Fields): EgressConnection | undefined {
    this.rejectUnknownFields(fields, ['proxyProtocol', 'transport'], 'connection');
    const protocol = this.text(fields.proxyProtocol, 'connection.proxyProtocol', '');
    const transport = fields.transport === undefined ? undefined : this.object(fields.transport, 'connection.transport');
    if (transport !== undefined) this.rejectUnknownFields(transport, ['tcp', 'uds'], 'connection.transport');
    switch (protocol) {
      case 'Direct':
        if (transport !== undefined) this.#invalid('transport', 'direct', 'config must be absent for direct connect');
        return { protocol };
      case 'HTTPConnect':
        return this.#httpConnect(transport);
      case 'GRPC':
        return this.#grpc(transport);
      default:
        this.errors.push(FieldError.notSupported(CONNECTION.child('protocol'), protocol, PROTOCOLS));
        return undefined;
    }
  }

  #httpConnect(transport: Fields | undefined): EgressConnection | undefined {
    if (transport === undefined) return this.#required('transport', 'transport must be set for HTTPConnect');
    const { tcp, uds } = transport;
    if (tcp !== undefined && uds !== undefined) return this.#invalid('tcp', tcp, 'TCP and UDS cannot both be set');
    if (uds !== undefined) return { protocol: 'HTTPConnect', socketPath: this.#socketPath(uds) };
    if (tcp === undefined) return this.#required('tcp', 'One of TCP or UDS must be set');
    const fields = this.object(tcp, 'connection.transport.tcp');
    this.rejectUnknownFields(fields, ['url', 'tlsConfig'], 'connection.transport.tcp');
    const url = this.text(fields.url, 'connection.transport.tcp.url', '');
    const tls = fields.tlsConfig === undefined ? undefined : this.#tls(this.object(fields.tlsConfig, 'connection.transport.tcp.tlsConfig'));
    if (url.startsWith('http://')) {
      if (tls !== undefined) this.#invalid('tlsConfig', 'nil', 'config must not be present when using HTTP');
    } else if (url.startsWith('https://')) this.#checkTls(tls);
    else this.#invalid('url', url, 'supported connection protocols are http:// and https://');
    return { protocol: 'HTTPConnect', url, tls };
  }

  #grpc(transport: Fields | undefined): EgressConnection | undefined {
    if (transport === undefined) return this.#required('transport', 'transport must be set for GRPC');
    if (transport.uds === undefined) return this.#required('uds', 'UDS must be set with GRPC');
    return { protocol: 'GRPC', socketPath: this.#socketPath(transport.uds) };
  }

  #socketPath(uds: unknown): string {
    const fields = this.object(uds as never, 'connection.transport.uds');
    this.rejectUnknownFields(fields, ['udsName'], 'connection.transport.uds');
    const path = this.text(fields.udsName, 'connection.transport.uds.udsName', '');
    if (path === '') this.#invalid('udsName', 'nil', 'must be present for UDS connections');
    return path;
  }

  #tls(fields: Fields): EgressTls {
    const place = 'connection.transport.tcp.tlsConfig';
    this.rejectUnknownFields(fields, ['caBundle', 'clientKey', 'clientCert', 'tlsServerName'], place);
    const text = (name: string) => this.text(fields[name], `${place}.${name}`, '');
    return {
      caBundle: text('caBundle'),
      clientKey: text('clientKey'),
      clientCert: text('clientCert'),
      tlsServerName: text('tlsServerName'),
    };
  }

  #checkTls(tls: EgressTls | undefined): undefined {
    if (tls === undefined) return this.#required('tlsConfig', 'TLSConfig must be present when using HTTPS');
    const { caBundle, clientCert, clientKey } = tls;
    if (caBundle !== '' && !existsSync(caBundle)) this.#invalid('tlsConfig.caBundle', caBundle, 'TLS config ca bundle does not exist');
    if (clientCert === '') this.#invalid('tlsConfig.clientCert', 'nil', 'Using TLS requires clientCert');
    else if (!existsSync(clientCert)) this.#invalid('tlsConfig.clientCert', clientCert, 'TLS client cert does not exist');
    if (clientKey === '') this.#invalid('tlsConfig.clientKey', 'nil', 'Using TLS requires requires clientKey');
    else if (!existsSync(clientKey)) this.#invalid('tlsConfig.clientKey', clientKey, 'TLS client key does not exist');
  }

  #required(name: string, detail: string): undefined {
    this.errors.push(FieldError.required(CONNECTION.child(name), detail));
  }

  #invalid(name: string, value: unknown, detail: string): undefined {
    this.errors.push(FieldError.invalid(CONNECTION.child(name), value as never, detail));
  }
}

function isEgressName(name: string): name is EgressName {
  return (EGRESS_NAMES as readonly string[]).includes(name);
}
