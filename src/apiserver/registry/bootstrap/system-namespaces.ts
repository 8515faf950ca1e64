/** Namespaces that are there from the start, and come back when somebody deletes them. */
export const SYSTEM_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default'] as const;
