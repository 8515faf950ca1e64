import { type core, node } from '#api';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';

/** The runtime handler of the pod's RuntimeClass; empty for the runtime's default. */
export async function runtimeHandler({ spec }: core.Pod, client: Client): Promise<string> {
  const name = spec?.runtimeClassName;
  if (!name) return '';
  try {
    return (await client.of(node.RuntimeClass).get({ name })).handler;
  } catch (error) {
    if (!isStatusReason(error, 'NotFound')) throw error;
    throw new Error(`failed to get sandbox runtime: no runtime for "${name}" is configured`, { cause: error });
  }
}
