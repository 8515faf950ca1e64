import type { Identified, ResourceClient } from '#client';
import { isStatusReason } from '#machinery';

/**
 * What is there already is read first: a create that fails because the object exists asks the admission webhooks before, and a server that starts
 * while theirs is down must not depend on them.
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
