import type { autoscalingV2, meta, metricsV1beta1 } from '#api';
import type { Client } from '#client';
import {
  type GroupResource,
  groupResourceText,
  parseDurationMs,
  parseGroupVersion,
  parseTime,
  Quantity,
  type Selector,
  SelectorError,
  StatusError,
  selectorFromObject,
} from '#machinery';
import type { PodReading, PodReadings } from './group-pods.ts';
import type { MetricReading } from './metric-reading.ts';
import type { ResourceLookup } from './resource-lookup.ts';

type MetricSpec = autoscalingV2.MetricSpec;
type MetricIdentifier = autoscalingV2.MetricIdentifier;

const RESOURCE_METRICS = 'metrics.k8s.io';
const CUSTOM_METRICS = 'custom.metrics.k8s.io';
const EXTERNAL_METRICS = 'external.metrics.k8s.io';
/** Supported versions of custom.metrics.k8s.io. */
const CUSTOM_VERSIONS: ReadonlySet<string> = new Set(['v1beta2', 'v1beta1']);
const DEFAULT_WINDOW_MS = 60_000;

/** A value of a custom or external metric, in either version. */
interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly timestamp?: string | null;
  readonly windowSeconds?: number;
  readonly window?: number;
  readonly value: string;
}

interface MetricValues {
  readonly items?: readonly MetricValue[] | null;
}

export interface MetricsReaderDeps {
  readonly client: Client;
  readonly lookup: ResourceLookup;
  readonly signal: AbortSignal;
}

/** The target of a metric: the selected pods, or a described object. */
export interface MetricScope {
  readonly namespace: string;
  readonly selector: Selector;
}

/** Reads metrics from the metrics APIs. */
export class MetricsReader {
  constructor(private readonly deps: MetricsReaderDeps) {}

  async read(spec: MetricSpec, scope: MetricScope): Promise<MetricReading> {
    try {
      return await this.#read(spec, scope);
    } catch (error) {
      if (this.deps.signal.aborted) throw error;
      const { message } = error as Error;
      return error instanceof SelectorError ? { type: 'invalid', message } : { type: 'failure', message };
    }
  }

  #read({ type, object, pods, resource, containerResource, external }: MetricSpec, scope: MetricScope): Promise<MetricReading> {
    if (type === 'Object' && object) return from('custom', () => this.#readObject(object, scope));
    if (type === 'Pods' && pods) return from('custom', () => this.#readPods(pods.metric, scope));
    if (type === 'Resource' && resource) return this.#readResource({ name: resource.name, container: '' }, scope);
    if (type === 'ContainerResource' && containerResource) return this.#readResource(containerResource, scope);
    if (type === 'External' && external) return this.#readExternal(external.metric, scope);
    throw new Error(`unknown metric source type ${JSON.stringify(type)}`);
  }

  async #readResource(metric: { readonly name: string; readonly container: string }, scope: MetricScope): Promise<MetricReading> {
    const path = `/apis/${RESOURCE_METRICS}/v1beta1/namespaces/${scope.namespace}/pods`;
    const list = await from('resource', () =>
      this.#get<{ items?: readonly metricsV1beta1.PodMetrics[] | null }>(path, {
        query: { labelSelector: scope.selector.toString() },
        resource: { group: RESOURCE_METRICS, resource: 'pods' },
      }),
    );
    const items = someOf(list.items, 'resource');
    const pods = items.flatMap((item) => {
      const value = metric.container === '' ? podUse(item, metric.name) : containerUse(item, metric.name, metric.container);
      const reading = { timestamp: instant(item.timestamp), windowMs: parseDurationMs(item.window ?? '0s') };
      return value === undefined ? [] : [[item.metadata?.name ?? '', { ...reading, value }] as const];
    });
    return { type: 'pods', pods: new Map(pods) };
  }

  async #readPods(metric: MetricIdentifier, { namespace, selector }: MetricScope): Promise<MetricReading> {
    const metricLabelSelector = selectorFromObject(metric.selector).toString();
    const items = await this.#customMetric(`namespaces/${namespace}/pods/*/${metric.name}`, {
      query: { labelSelector: selector.toString(), metricLabelSelector },
      resource: { group: CUSTOM_METRICS, resource: 'pods' },
      name: '*',
    });
    return { type: 'pods', pods: podReadings(someOf(items, 'custom')) };
  }

  async #readObject({ describedObject, metric }: autoscalingV2.ObjectMetricSource, { namespace }: MetricScope): Promise<MetricReading> {
    const query = { metricLabelSelector: selectorFromObject(metric.selector).toString() };
    const items = await this.#objectMetric({ describedObject, metric }, namespace, query);
    const [item] = items;
    if (item === undefined || items.length !== 1) {
      throw new Error(`the custom metrics API server returned ${items.length} results when we asked for exactly one`);
    }
    return { type: 'value', value: milli(item.value) };
  }

  async #objectMetric(
    { describedObject: { apiVersion = '', kind, name }, metric }: Pick<autoscalingV2.ObjectMetricSource, 'describedObject' | 'metric'>,
    namespace: string,
    query: Record<string, string>,
  ): Promise<readonly MetricValue[]> {
    const { group } = parseGroupVersion(apiVersion);
    // An autoscaler can only refer to its own namespace.
    if (kind === 'Namespace' && group === '') {
      const resource = { group: CUSTOM_METRICS, resource: 'metrics' };
      return this.#customMetric(`namespaces/${namespace}/metrics/${metric.name}`, { query, resource, name: metric.name });
    }
    const version = await this.#customVersion();
    const resource = await this.#resourceOf({ group, kind });
    const path = `namespaces/${namespace}/${resource}/${name}/${metric.name}`;
    return this.#customMetric(path, { query, resource: { group: CUSTOM_METRICS, resource }, name }, version);
  }

  async #resourceOf(groupKind: { readonly group: string; readonly kind: string }): Promise<string> {
    try {
      return groupResourceText(await this.deps.lookup.find(groupKind));
    } catch (error) {
      const kind = groupKind.group === '' ? groupKind.kind : `${groupKind.kind}.${groupKind.group}`;
      throw new Error(`unable to map kind ${kind} to resource: ${(error as Error).message}`, { cause: error });
    }
  }

  async #customMetric(path: string, query: MetricQuery, fallback?: string): Promise<readonly MetricValue[]> {
    const version = fallback ?? (await this.#customVersion());
    const { items } = await this.#get<MetricValues>(`/apis/${CUSTOM_METRICS}/${version}/${path}`, query);
    return items ?? [];
  }

  async #customVersion(): Promise<string> {
    const { groups } = await this.#get<meta.APIGroupList>('/apis', { query: {}, resource: { group: '', resource: '' } });
    const group = groups.find(({ name }) => name === CUSTOM_METRICS);
    if (group === undefined) throw new Error(`no custom metrics API (${CUSTOM_METRICS}) registered`);
    const served = [group.preferredVersion?.version ?? '', ...group.versions.map(({ version }) => version)];
    const version = served.find((candidate) => CUSTOM_VERSIONS.has(candidate));
    if (version === undefined) throw new Error('no known available metric versions found');
    return version;
  }

  async #readExternal(metric: MetricIdentifier, { namespace }: MetricScope): Promise<MetricReading> {
    const labelSelector = selectorFromObject(metric.selector).toString();
    const path = `/apis/${EXTERNAL_METRICS}/v1beta1/namespaces/${namespace}/${metric.name}`;
    const list = await from('external', () =>
      this.#get<MetricValues>(path, { query: { labelSelector }, resource: { group: EXTERNAL_METRICS, resource: metric.name } }),
    );
    const items = someOf(list.items, 'external');
    return { type: 'value', value: items.reduce((sum, { value }) => sum + milli(value), 0) };
  }

  async #get<T>(path: string, { query, resource, name = '' }: MetricQuery): Promise<T> {
    const { client, signal } = this.deps;
    const parameters = Object.entries(query).filter(([, value]) => value !== '');
    try {
      return (await client.transport.request({ method: 'GET', path, query: new URLSearchParams(parameters), signal })) as T;
    } catch (error) {
      // A response without a Status does not name the resource.
      const isUnexplained = error instanceof StatusError && error.hasCause('UnexpectedServerResponse') && resource.resource !== '';
      if (!isUnexplained) throw error;
      const target = ['get', groupResourceText(resource), ...(name === '' ? [] : [name])].join(' ');
      throw new Error(`${error.message} (${target})`, { cause: error });
    }
  }
}

interface MetricQuery {
  readonly query: Readonly<Record<string, string>>;
  readonly resource: GroupResource;
  readonly name?: string;
}

type Source = 'resource' | 'custom' | 'external';

async function from<T>(source: Source, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SelectorError || error instanceof NoMetricsError) throw error;
    throw new Error(`unable to fetch metrics from ${source} metrics API: ${(error as Error).message}`, { cause: error });
  }
}

/** The response has no items. */
class NoMetricsError extends Error {
  override readonly name = 'NoMetricsError';
}

function someOf<T>(items: readonly T[] | null | undefined, source: Source): readonly T[] {
  if (items === null || items === undefined || items.length === 0)
    throw new NoMetricsError(`no metrics returned from ${source} metrics API`);
  return items;
}

function podReadings(items: readonly MetricValue[]): PodReadings {
  return new Map(items.map((item) => [item.describedObject?.name ?? '', readingOf(item)]));
}

function readingOf({ timestamp, windowSeconds, window = windowSeconds, value }: MetricValue): PodReading {
  return { value: milli(value), timestamp: instant(timestamp), windowMs: window === undefined ? DEFAULT_WINDOW_MS : window * 1000 };
}

function podUse({ containers }: metricsV1beta1.PodMetrics, resource: string): number | undefined {
  const uses = (containers ?? []).map(({ usage }) => usage?.[resource]);
  if (uses.length === 0) return undefined;
  let sum = 0;
  for (const use of uses) {
    if (use === undefined) return undefined;
    sum += milli(use);
  }
  return sum;
}

function containerUse({ containers }: metricsV1beta1.PodMetrics, resource: string, container: string): number | undefined {
  const use = (containers ?? []).find(({ name }) => name === container)?.usage?.[resource];
  return use === undefined ? undefined : milli(use);
}

function milli(quantity: string): number {
  return Quantity.fromJson(quantity).milliValue();
}

function instant(timestamp: string | null | undefined): number {
  return timestamp ? parseTime(timestamp) : -Infinity;
}
