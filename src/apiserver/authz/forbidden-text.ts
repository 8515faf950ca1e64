import { lookupTable } from '#base';
import { goQuote } from '#machinery';
import type { AuthorizationAttributes } from './authorizer.ts';

const HTML = lookupTable<string>({ '&': '&amp;', '<': '&lt;', '>': '&gt;' });

/** The message of a 403, with HTML characters escaped. */
export function forbiddenText(attributes: AuthorizationAttributes): string {
  return text(attributes).replace(/[&<>]/g, (character) => HTML[character]!);
}

function text({ user, verb, isResource, path, group, resource, subresource, namespace }: AuthorizationAttributes): string {
  const subject = `User ${goQuote(user.name)}`;
  if (!isResource) return `${subject} cannot ${verb} path ${goQuote(path)}`;
  const target = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${subject} cannot ${verb} resource ${goQuote(target)} in API group ${goQuote(group)} ${where}`;
}
