import { denialError } from '../authz/denial-error.ts';
import { attributesOf } from '../authz/request-attributes.ts';
import type { ResourceCall } from './resource-call.ts';

/** A PUT or apply that creates the object also requires `create`. */
export async function authorizeCreation({ request, user, deps }: ResourceCall): Promise<void> {
  if (deps.authorizer === undefined) return;
  const attributes = { ...attributesOf(request, user), verb: 'create' };
  const decision = await deps.authorizer.authorize(attributes);
  if (decision.verdict !== 'allow') throw denialError(attributes, decision);
}
