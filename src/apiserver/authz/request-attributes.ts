import { type FieldRequirement, parseFieldSelector } from '#machinery';
import type { ApiRequest } from '../request/api-request.ts';
import type { UserInfo } from '../request/user.ts';
import type { AuthorizationAttributes } from './authorizer.ts';

export function attributesOf(request: ApiRequest, user: UserInfo): AuthorizationAttributes {
  const { isResource, path, verb, group, version, resource, subresource, namespace, name } = request.info;
  const common = { user, verb, isResource, path, group, version, resource, subresource, namespace, name };
  const selector = SELECTING_VERBS.has(verb) ? request.query.get('fieldSelector') : null;
  return selector ? { ...common, fieldRequirements: requirementsIn(selector) } : common;
}

const SELECTING_VERBS: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/** Undefined if the selector does not parse: the handler reports that once the request is authorized. */
function requirementsIn(selector: string): readonly FieldRequirement[] {
  try {
    return parseFieldSelector(selector).requirements;
  } catch {
    return [];
  }
}
