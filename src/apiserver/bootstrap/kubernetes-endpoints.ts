import { core, discovery, type Kind } from '#api';
import type { Client, Draft, Identified } from '#client';
import { isStatusReason, type JsonValue, sameJson } from '#machinery';
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
  const { name = '', namespace } = object.metadata as { name?: string; namespace?: string };
  try {
    await client.of(kind).create(object);
  } catch (error) {
    if (!isStatusReason(error, 'AlreadyExists')) throw error;
    const existing = await client.of(kind).get({ name, ...(namespace && { namespace }) });
    const { metadata: _, ...content } = object as unknown as Record<string, JsonValue>;
    const { metadata: __, kind: _k, apiVersion: _a, ...present } = existing as unknown as Record<string, JsonValue>;
    if (!sameJson(content as JsonValue, present as JsonValue)) await client.of(kind).update({ ...existing, ...content } as T);
  }
}
