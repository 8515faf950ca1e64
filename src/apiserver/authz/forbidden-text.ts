import type { AuthorizationAttributes } from './authorizer.ts';

/** Who may not do what, in the words that clients show to people. */
export function forbiddenText({ user, verb, isResource, path, group, resource, subresource, namespace }: AuthorizationAttributes): string {
  const who = `User "${user.name}"`;
  if (!isResource) return `${who} cannot ${verb} path "${path}"`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `${who} cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
}
