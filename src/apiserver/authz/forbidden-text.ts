import { goQuote } from '#machinery';
import type { AuthorizationAttributes } from './authorizer.ts';

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Who may not do what, in the words that clients show to people; nothing in it can be taken for HTML. */
export function forbiddenText(attributes: AuthorizationAttributes): string {
  return text(attributes).replace(/[&<>]/g, (character) => HTML[character]!);
}

function text({ user, verb, isResource, path, group, resource, subresource, namespace }: AuthorizationAttributes): string {
  const who = `User ${goQuote(user.name)}`;
  if (!isResource) return `${who} cannot ${verb} path ${goQuote(path)}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${who} cannot ${verb} resource ${goQuote(what)} in API group ${goQuote(group)} ${where}`;
}
