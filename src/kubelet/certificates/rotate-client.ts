import { Client, type ConnectionConfig, type HttpsTransportOptions, httpsTransport, switchingTransport } from '#client';
import { CertificateFiles } from './certificate-files.ts';
import { CLIENT_SIGNER } from './request-certificate.ts';
import { type RotationDeps, rotatedCertificates } from './rotate-certificate.ts';

export interface RotatingClient extends AsyncDisposable {
  readonly client: Client;
}

export interface RotatingClientConfig {
  readonly nodeName: string;
  readonly connection: ConnectionConfig;
  readonly certDirectory: string;
  readonly options: HttpsTransportOptions;
}

/** As `rotateCertificates`: a client that renews its own certificate before it expires. */
export function rotatingClient(config: RotatingClientConfig, deps: Omit<RotationDeps, 'client'>): RotatingClient {
  const { nodeName, connection, certDirectory, options } = config;
  const transport = switchingTransport(httpsTransport(connection, deps, options));
  const client = new Client(transport);
  const stop = new AbortController();
  const files = new CertificateFiles(certDirectory, 'kubelet-client');
  const rotate = async () => {
    const inUse = connection.credentials?.cert;
    for await (const { cert, key } of rotatedCertificates(
      { nodeName, signerName: CLIENT_SIGNER, files },
      { ...deps, client },
      stop.signal,
    )) {
      if (cert.trim() === inUse?.trim()) continue;
      await transport.use(httpsTransport({ ...connection, credentials: { cert, key } }, deps, options));
      deps.logger.info('the client certificate was rotated');
    }
  };
  const rotating = rotate();
  return {
    client,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await rotating;
      await client[Symbol.asyncDispose]();
    },
  };
}
