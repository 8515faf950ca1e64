/** The authenticated user of a request. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const AUTHENTICATED_GROUP = 'system:authenticated';
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated';
/** Members are always authorized. */
export const PRIVILEGED_GROUP = 'system:masters';
export const NODES_GROUP = 'system:nodes';
export const NODE_USER_PREFIX = 'system:node:';
/** The `extra` key of the credential id. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

export const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: [UNAUTHENTICATED_GROUP] };

/** With the group system:authenticated. */
export function authenticated(user: UserInfo): UserInfo {
  const isMember = user.groups.includes(AUTHENTICATED_GROUP) || user.groups.includes(UNAUTHENTICATED_GROUP);
  return isMember || user.name === ANONYMOUS.name ? user : { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
}
