/** The labels and annotations of sandboxes and containers, by which kubelets and upstream's tools find them. */
export const POD_NAME = 'io.kubernetes.pod.name';
export const POD_NAMESPACE = 'io.kubernetes.pod.namespace';
export const POD_UID = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME = 'io.kubernetes.container.name';

export const SPEC_HASH = 'io.kubernetes.container.hash';
export const RESTART_COUNT = 'io.kubernetes.container.restartCount';
export const TERMINATION_PATH = 'io.kubernetes.container.terminationMessagePath';
export const TERMINATION_POLICY = 'io.kubernetes.container.terminationMessagePolicy';
export const PRE_STOP = 'io.kubernetes.container.preStopHandler';
export const PORTS = 'io.kubernetes.container.ports';
export const POD_DELETION_GRACE = 'io.kubernetes.pod.deletionGracePeriod';
export const POD_TERMINATION_GRACE = 'io.kubernetes.pod.terminationGracePeriod';
