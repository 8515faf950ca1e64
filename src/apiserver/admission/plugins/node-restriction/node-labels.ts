/** Kubernetes' own labels that kubelets may set on their node. */
const KUBELET_LABELS: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);

type Labels = Readonly<Record<string, string>>;

/** Changed labels that a node must not set on itself: they could attract pods. */
export function forbiddenLabels(now: Labels = {}, before: Labels = {}): readonly string[] {
  const changed = [...new Set([...Object.keys(now), ...Object.keys(before)])].filter((key) => now[key] !== before[key]);
  return changed.filter(isForbidden).toSorted();
}

function isForbidden(key: string): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  if (isIn(domain, 'node-restriction.kubernetes.io')) return true;
  const isKubernetesDomain = isIn(domain, 'kubernetes.io') || isIn(domain, 'k8s.io');
  const isKubelets = KUBELET_LABELS.has(key) || isIn(domain, 'kubelet.kubernetes.io') || isIn(domain, 'node.kubernetes.io');
  return isKubernetesDomain && !isKubelets;
}

function isIn(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
