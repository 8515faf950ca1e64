import { checkLabelKey, Quantity } from '#machinery';

const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';
const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);
const OBJECT_COUNTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const INTEGER_RESOURCES = new Set(OBJECT_COUNTS);
const STANDARD_RESOURCES = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  ...OBJECT_COUNTS,
  'storage',
  'requests.storage',
]);

export const POD_LEVEL_RESOURCES = ['cpu', HUGE_PAGES, 'memory'];

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Whether Kubernetes defines the resource; others are advertised by nodes and drivers. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith(REQUESTS)) return false;
  return checkLabelKey(REQUESTS + name).length === 0;
}

/** Whether limits may exceed requests. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

export function isStandardResource(name: string): boolean {
  return STANDARD_RESOURCES.has(name) || isHugePages(name) || name.startsWith(REQUESTS + HUGE_PAGES);
}

export function isStandardContainerResource(name: string): boolean {
  return CONTAINER_RESOURCES.has(name) || isHugePages(name);
}

export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

/** A resource in integer units. */
export function isIntegerResource(name: string): boolean {
  return INTEGER_RESOURCES.has(name) || isExtendedResource(name);
}

/** Whether an amount of huge pages is a multiple of the page size in the resource's name. */
export function isWholePages(name: string, amount: Quantity): boolean {
  let pageSize: Quantity;
  try {
    pageSize = Quantity.parse(name.slice(HUGE_PAGES.length));
  } catch {
    return false;
  }
  if (pageSize.sign <= 0 || !pageSize.isMultipleOf(0)) return false;
  return amount.bigValue() % pageSize.bigValue() === 0n;
}

const QUOTA_RESOURCES = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  ...OBJECT_COUNTS,
]);

/** A built-in quota resource; not `count/…`, not an extended resource. */
export function isStandardQuotaResource(name: string): boolean {
  return QUOTA_RESOURCES.has(name) || isHugePages(name) || name.startsWith(REQUESTS + HUGE_PAGES);
}
