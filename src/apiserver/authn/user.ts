/** Who a request comes from, once authenticated. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const AUTHENTICATED_GROUP = 'system:authenticated';
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated';
/** Its members may do everything; no role can take that away. */
export const PRIVILEGED_GROUP = 'system:masters';
export const NODES_GROUP = 'system:nodes';
export const NODE_USER_PREFIX = 'system:node:';
/** The member of `extra` that tells two credentials of one user apart. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

export const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: [UNAUTHENTICATED_GROUP] };

/** With the group that every authenticated user is in. */
export function authenticated(user: UserInfo): UserInfo {
  const isMember = user.groups.includes(AUTHENTICATED_GROUP) || user.groups.includes(UNAUTHENTICATED_GROUP);
  return isMember || user.name === ANONYMOUS.name ? user : { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
}
