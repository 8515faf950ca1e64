import type { Identified, ResourceClient } from '#client';
import { isStatusReason } from '#machinery';

/**
 * Reads before creating: a create that fails because the object exists calls the admission webhooks first, and a starting server must not
 * depend on them.
 */
export async function getIfExists<T extends Identified>(
  client: ResourceClient<T>,
  { name = '', namespace }: { readonly name?: string | undefined; readonly namespace?: string | undefined },
): Promise<T | undefined> {
  try {
    return await client.get({ name, ...(namespace && { namespace }) });
  } catch (error) {
    if (isStatusReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
