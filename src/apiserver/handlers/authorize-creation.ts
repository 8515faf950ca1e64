import { attributesOf, refuse } from '../filters/chain.ts';
import type { ResourceCall } from './resource-call.ts';
import type { WriteOptions } from './write-options.ts';

/** A PUT or an apply that turns out to create the object takes the right to create as well. */
export async function authorizeCreation({ request, user, deps }: ResourceCall, options: WriteOptions): Promise<void> {
  if (deps.authorizer === undefined || options.raw.kind === 'CreateOptions') return;
  const attributes = { ...attributesOf(request, user), verb: 'create' };
  const decision = await deps.authorizer.authorize(attributes);
  if (decision.verdict !== 'allow') throw refuse(attributes, decision);
}
