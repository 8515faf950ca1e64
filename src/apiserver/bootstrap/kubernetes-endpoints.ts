import { core, discovery, type Kind } from '#api';
import type { Client, Draft, Identified } from '#client';
import { isStatusReason, type JsonValue, sameJson } from '#machinery';
import { getIfExists } from './get-if-exists.ts';
import { kubernetesEndpointSlice, kubernetesEndpoints } from './kubernetes-service.ts';

/** Publishes the addresses of the `kubernetes` service. */
export async function publishServers(client: Client, { addresses, port }: { addresses: readonly string[]; port: number }): Promise<void> {
  // Loopback addresses are invalid in Endpoints.
  const servers = { addresses: addresses.filter((address) => !/^(127\.|::1$)/.test(address)), port };
  if (servers.addresses.length === 0) return;
  await replace(
    client,
    core.Endpoints as Kind<core.Endpoints & Identified>,
    kubernetesEndpoints(servers) as Draft<core.Endpoints & Identified>,
  );
  await replace(
    client,
    discovery.EndpointSlice as Kind<discovery.EndpointSlice & Identified>,
    kubernetesEndpointSlice(servers) as Draft<discovery.EndpointSlice & Identified>,
  );
}

/** The server's address may have changed since its last run. */
async function replace<T extends Identified>(client: Client, kind: Kind<T>, object: Draft<T>): Promise<void> {
  const existing = await getIfExists(client.of(kind), object.metadata ?? {});
  if (existing === undefined) return createUnlessRaced(client, kind, object);
  const { metadata: _, ...content } = object as unknown as Record<string, JsonValue>;
  const { metadata: __, kind: _k, apiVersion: _a, ...present } = existing as unknown as Record<string, JsonValue>;
  if (!sameJson(content as JsonValue, present as JsonValue)) await client.of(kind).update({ ...existing, ...content } as T);
}

async function createUnlessRaced<T extends Identified>(client: Client, kind: Kind<T>, object: Draft<T>): Promise<void> {
  try {
    await client.of(kind).create(object);
  } catch (error) {
    if (!isStatusReason(error, 'AlreadyExists')) throw error;
    await replace(client, kind, object);
  }
}
