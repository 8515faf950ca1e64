import { onTestFinished } from 'vitest';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { openMemoryStore } from '#store';
import type { AdmissionPlugin } from './admission/admission.ts';
import { LOOPBACK_TLS } from './admission/webhooks/loopback-certificate.test-data.ts';
import { type Answer, type SendOptions, sendHttps } from './https-request.test-setup.ts';
import { type ApiServer, type ApiServerConfig, startApiServer } from './server.ts';

/** A server on loopback that the end of the test closes. */
export async function serve(config: Partial<ApiServerConfig> = {}, admission: readonly AdmissionPlugin[] = []): Promise<ApiServer> {
  const store = openMemoryStore({ clock: realClock });
  const server = startApiServer(
    {
      listen: { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS },
      version: {},
      anonymousAuth: true,
      systemObjects: false,
      ...config,
    },
    { store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry(), admission },
  );
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await store.close();
  });
  await server.ready;
  return server;
}

export function send({ port }: ApiServer, path: string, options: SendOptions = {}): Promise<Answer> {
  return sendHttps(port, path, options);
}

export const MAPS = '/api/v1/namespaces/default/configmaps';
