import { core } from '#api';
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import type { AuthorizationAttributes } from '../authz/authorizer.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { type ApiServerConfig, startApiServer } from '../server.ts';

/** A server with every built-in kind and plugin, and a client that may do everything but what is forbidden: by default, to read secrets. */
export async function serveAdmission(
  isForbidden: (attributes: AuthorizationAttributes) => boolean = ({ resource }) => resource === 'secrets',
  config: Partial<ApiServerConfig> = {},
) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const metrics = new MetricsRegistry();
  const server = startApiServer(
    { version: { major: '1', minor: '36' }, anonymousAuth: false, systemObjects: false, ...config },
    {
      store: openMemoryStore({ clock }),
      clock,
      random,
      logger: silentLogger,
      metrics,
      authorizer: {
        // Some answers take time.
        authorize: async (attributes) => ({ verdict: isForbidden(attributes) ? 'deny' : 'allow', reason: attributes.resource }),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
    },
  );
  await server.ready;
  const user = { name: 'tester', groups: ['devs'] };
  const client = new Client(inProcessTransport(server.handle, user, { clock }), { fieldManager: 'test' });
  await client.of(core.Namespace).create({ metadata: { name: 'default', labels: { team: 'a' } } });
  return { client, server, clock, metrics };
}

export function configMap(name: string, data: Record<string, string> = {}, labels?: Record<string, string>) {
  return { metadata: { name, namespace: 'default', ...(labels && { labels }) }, data };
}
