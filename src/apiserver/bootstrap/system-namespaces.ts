/** System namespaces, recreated if they are deleted. */
export const SYSTEM_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default'] as const;
