import type { core } from '#api';

/** The common user of all containers of the pod; undefined when they differ or one has none. */
export function podUser({ spec }: core.Pod): number | undefined {
  const users = new Set([...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map((container) => userOf(container, spec)));
  const [user] = users;
  return users.size === 1 ? user : undefined;
}

function userOf({ securityContext }: core.Container, spec: core.PodSpec | undefined): number | undefined {
  const user = securityContext?.runAsUser ?? spec?.securityContext?.runAsUser;
  return user === undefined ? undefined : Number(user);
}
