import { describe, expect, it } from 'vitest';
import type { autoscalingV2 } from '#api';
import { realClock } from '#base';
import { Client, type Transport } from '#client';
import { NO_RESOURCE, parseLabelSelector, serverResponseError } from '#machinery';
import { MetricsReader } from './metrics-reader.ts';
import { ResourceLookup } from './resource-lookup.ts';

const scope = { namespace: 'ns', selector: parseLabelSelector('app=web') };
const { signal } = new AbortController();

/** A server that knows these paths, with their queries, and nothing else. */
function readerOf(answers: Readonly<Record<string, unknown>>) {
  const paths: string[] = [];
  const request: Transport['request'] = async ({ path, query }) => {
    const text = query !== undefined && query.size > 0 ? `${path}?${decodeURIComponent(query.toString())}` : path;
    paths.push(text);
    if (text in answers) return answers[text];
    const base = { verb: 'GET', resource: NO_RESOURCE, name: '', retryAfterSeconds: 0 };
    throw serverResponseError({ ...base, code: 404, serverMessage: '404 page not found', unexpected: true });
  };
  const client = new Client({ request, isLocal: true } as Transport);
  const lookup = new ResourceLookup({ client, clock: realClock, signal });
  return { reader: new MetricsReader({ client, lookup, signal }), paths };
}

const GROUPS = {
  '/apis': { groups: [{ name: 'custom.metrics.k8s.io', versions: [{ version: 'v1beta1' }], preferredVersion: { version: 'v1beta1' } }] },
  '/api': { kind: 'APIGroupDiscoveryList', items: [] },
};
const cpu: autoscalingV2.MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};
const metric = { name: 'hits' };
const target = { type: 'AverageValue', averageValue: '1' };

describe('metrics', () => {
  it('of resources are the sum over the containers of each pod', async () => {
    const measured = { timestamp: '2026-01-01T00:00:00Z', window: '30s' };
    const { reader } = readerOf({
      '/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods?labelSelector=app=web': {
        items: [
          {
            ...measured,
            metadata: { name: 'a' },
            containers: [
              { name: 'x', usage: { cpu: '100m' } },
              { name: 'y', usage: { cpu: '1' } },
            ],
          },
          {
            ...measured,
            metadata: { name: 'b' },
            containers: [
              { name: 'x', usage: { cpu: '5m' } },
              { name: 'y', usage: {} },
            ],
          },
        ],
      },
    });
    const reading = { timestamp: Date.UTC(2026, 0, 1), windowMs: 30_000 };
    expect(await reader.read(cpu, scope)).toEqual({ type: 'pods', pods: new Map([['a', { ...reading, value: 1100 }]]) });
    const container = { name: 'cpu', container: 'x', target };
    expect(await reader.read({ type: 'ContainerResource', containerResource: container }, scope)).toEqual({
      type: 'pods',
      pods: new Map([
        ['a', { ...reading, value: 100 }],
        ['b', { ...reading, value: 5 }],
      ]),
    });
  });

  it('of pods come in the version that is served', async () => {
    const value = { describedObject: { name: 'a' }, timestamp: '2026-01-01T00:00:00Z', value: '2500m' };
    const { reader } = readerOf({
      ...GROUPS,
      '/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/pods/*/hits?labelSelector=app=web': { items: [{ ...value, window: 10 }] },
    });
    const reading = { value: 2500, timestamp: Date.UTC(2026, 0, 1), windowMs: 10_000 };
    expect(await reader.read({ type: 'Pods', pods: { metric, target } }, scope)).toEqual({ type: 'pods', pods: new Map([['a', reading]]) });
  });

  it('of a namespace are those of the own one', async () => {
    const { reader } = readerOf({
      ...GROUPS,
      '/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/metrics/hits': { items: [{ value: '3' }] },
    });
    const describedObject = { apiVersion: 'v1', kind: 'Namespace', name: 'other' };
    expect(await reader.read({ type: 'Object', object: { metric, target, describedObject } }, scope)).toEqual({
      type: 'value',
      value: 3000,
    });
  });

  it('from outside are summed', async () => {
    const selected = { name: 'queue', selector: { matchLabels: { q: 'x' } } };
    const { reader } = readerOf({
      '/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/queue?labelSelector=q=x': { items: [{ value: '3' }, { value: '500m' }] },
    });
    expect(await reader.read({ type: 'External', external: { metric: selected, target } }, scope)).toEqual({ type: 'value', value: 3500 });
  });

  const NOT_FOUND = 'the server could not find the requested resource';
  const service = { apiVersion: 'v1', kind: 'Service', name: 's' };
  it.each<[string, autoscalingV2.MetricSpec, object, string]>([
    ['resource metrics API', cpu, {}, `unable to fetch metrics from resource metrics API: ${NOT_FOUND} (get pods.metrics.k8s.io)`],
    [
      'external metrics API',
      { type: 'External', external: { metric, target } },
      {},
      `unable to fetch metrics from external metrics API: ${NOT_FOUND} (get hits.external.metrics.k8s.io)`,
    ],
    [
      'custom metrics API',
      { type: 'Pods', pods: { metric, target } },
      { '/apis': { groups: [] } },
      'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
    ],
    [
      'such pods',
      { type: 'Pods', pods: { metric, target } },
      GROUPS,
      `unable to fetch metrics from custom metrics API: ${NOT_FOUND} (get pods.custom.metrics.k8s.io *)`,
    ],
    [
      'such kind',
      { type: 'Object', object: { metric, target, describedObject: { ...service, apiVersion: 'x.io/v1' } } },
      { ...GROUPS, '/apis': { ...GROUPS['/apis'], kind: 'APIGroupList' } },
      'unable to fetch metrics from custom metrics API: unable to map kind Service.x.io to resource: no matches for kind "Service" in group "x.io"',
    ],
  ])('cannot be read where there is no %s', async (_name, spec, answers, message) => {
    const { reader } = readerOf(answers as Readonly<Record<string, unknown>>);
    expect(await reader.read(spec, scope)).toEqual({ type: 'failure', message });
  });

  it('without samples are an error', async () => {
    const { reader } = readerOf({ '/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods?labelSelector=app=web': { items: [] } });
    expect(await reader.read(cpu, scope)).toEqual({ type: 'failure', message: 'no metrics returned from resource metrics API' });
  });

  it('cannot be asked for with a selector that makes no sense', async () => {
    const { reader, paths } = readerOf(GROUPS);
    const selector = { matchExpressions: [{ key: 'a', operator: 'Odd' }] };
    const reading = await reader.read({ type: 'Pods', pods: { metric: { ...metric, selector }, target } }, scope);
    expect(reading).toEqual({ type: 'invalid', message: '"Odd" is not a valid label selector operator' });
    expect(paths).toEqual([]);
  });
});
