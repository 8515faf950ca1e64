import { core } from '#api';
import type { Client } from '#client';
import { secretData } from '../volumes/payload/keyed-payload.ts';

/** The content of a secret for a driver: strings by key. Empty when no secret is referenced. */
export async function csiSecrets(reference: core.SecretReference | undefined, client: Client): Promise<Readonly<Record<string, string>>> {
  if (!reference?.name) return {};
  const { name, namespace } = reference;
  const secret = await client.of(core.Secret).get({ name, namespace });
  return Object.fromEntries(Array.from(secretData(secret), ([key, value]) => [key, Buffer.from(value).toString('utf8')]));
}
