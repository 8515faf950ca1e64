import type { core } from '#api';
import { Quantity } from '#machinery';

type Amounts = Readonly<Record<string, string>>;

export interface ResourceFieldContext {
  readonly pod: core.Pod;
  /** The container with the reference; references in volumes name one. */
  readonly container?: core.Container | undefined;
  /** The node's allocatable resources: the default limits. */
  readonly allocatable?: Amounts | undefined;
}

/** The value of a resourceFieldRef: the quantity in units of the divisor, rounded up. */
export function resourceFieldValue(selector: core.ResourceFieldSelector, context: ResourceFieldContext): string {
  const container = selector.containerName ? containerNamed(context.pod, selector.containerName) : context.container;
  if (container === undefined) throw new Error(`container ${selector.containerName ?? ''} not found`);
  const { resource } = selector;
  const dot = resource.indexOf('.');
  const kind = resource.slice(0, dot);
  const name = resource.slice(dot + 1);
  if (kind !== 'limits' && kind !== 'requests') throw new Error(`unsupported container resource : ${resource}`);
  const { limits, requests } = container.resources ?? {};
  const isSupported = name === 'cpu' || name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-');
  if (!isSupported) throw new Error(`unsupported container resource : ${resource}`);
  const amount = kind === 'limits' ? limitOf(limits?.[name], name, context) : requests?.[name];
  return divided(Quantity.parse(amount ?? '0'), Quantity.parse(selector.divisor || '0'), name);
}

/** Without a limit of its own a container has that of its pod, else all of the node. Huge pages cannot be overcommitted: without a limit there are none. */
function limitOf(limit: string | undefined, name: string, { pod, allocatable }: ResourceFieldContext): string | undefined {
  if (isLimit(limit) || name.startsWith('hugepages-')) return limit;
  const ofPod = pod.spec?.resources?.limits?.[name];
  return POD_LEVEL.has(name) && isLimit(ofPod) ? ofPod : allocatable?.[name];
}

const POD_LEVEL: ReadonlySet<string> = new Set(['cpu', 'memory']);

function isLimit(limit: string | undefined): boolean {
  return limit !== undefined && !Quantity.parse(limit).isZero;
}

function containerNamed({ spec }: core.Pod, name: string): core.Container | undefined {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name);
}

// CPU is divided in millicores, everything else in units.
function divided(amount: Quantity, divisor: Quantity, name: string): string {
  const scale = name === 'cpu' ? -3 : 0;
  const unit = divisor.isZero ? Quantity.of(1) : divisor;
  return String(Math.ceil(amount.scaledValue(scale) / unit.scaledValue(scale)));
}
