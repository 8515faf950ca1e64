/** Pod annotations with a meaning to the API. */
export const MIRROR_POD_ANNOTATION = 'kubernetes.io/config.mirror';
export const TOLERATIONS_ANNOTATION = 'scheduler.alpha.kubernetes.io/tolerations';
export const POD_DELETION_COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';
export const SECCOMP_POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';
export const APPARMOR_CONTAINER_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
