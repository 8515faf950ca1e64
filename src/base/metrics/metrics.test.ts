import { describe, expect, test } from 'vitest';
import { MetricsRegistry } from '#base';

describe('the metrics registry', () => {
  test('writes every kind of metric in the text format of Prometheus', () => {
    const registry = new MetricsRegistry();
    const requests = registry.counter({ name: 'requests_total', help: 'Requests\nby verb', labels: ['verb', 'code'] });
    requests.with({ verb: 'GET', code: 200 }).inc();
    requests.with({ verb: 'GET', code: 200 }).inc(2);
    requests.with({ verb: 'a"b\\c\nd', code: 500 }).inc();
    const depth = registry.gauge({ name: 'depth', help: 'Depth' }).with({});
    depth.set(5);
    depth.inc();
    depth.dec(3);
    const latency = registry.histogram({ name: 'latency_seconds', help: 'Latency', labels: ['op'], buckets: [0.1, 1] }).with({ op: 'put' });
    for (const value of [0.05, 0.1, 0.5, 3]) latency.observe(value);
    registry.counter({ name: 'unused_total', help: 'No series yet', labels: ['x'] });
    expect(registry.text()).toBe(
      [
        '# HELP depth Depth',
        '# TYPE depth gauge',
        'depth 3',
        '# HELP latency_seconds Latency',
        '# TYPE latency_seconds histogram',
        'latency_seconds_bucket{op="put",le="0.1"} 2',
        'latency_seconds_bucket{op="put",le="1"} 3',
        'latency_seconds_bucket{op="put",le="+Inf"} 4',
        'latency_seconds_sum{op="put"} 3.65',
        'latency_seconds_count{op="put"} 4',
        '# HELP requests_total Requests\\nby verb',
        '# TYPE requests_total counter',
        'requests_total{verb="GET",code="200"} 3',
        'requests_total{verb="a\\"b\\\\c\\nd",code="500"} 1',
        '',
      ].join('\n'),
    );
  });

  test('asks for the value of a collected gauge each time', () => {
    const registry = new MetricsRegistry();
    let size = 1;
    registry
      .gauge({ name: 'size', help: 'Size' })
      .with({})
      .collect(() => size);
    expect(registry.text()).toContain('size 1\n');
    size = 2;
    expect(registry.text()).toContain('size 2\n');
  });

  test('gives the same metric to all who ask for it, and refuses another under its name', () => {
    const registry = new MetricsRegistry();
    const make = () => registry.counter({ name: 'adds_total', help: 'Adds', labels: ['name'] });
    make().with({ name: 'a' }).inc();
    expect(make().with({ name: 'a' }).value).toBe(1);
    expect(() => registry.gauge({ name: 'adds_total', help: 'Adds', labels: ['name'] })).toThrow('registered already');
    expect(() => registry.counter({ name: 'adds_total', help: 'Adds' })).toThrow('registered already');
  });

  test('forgets a removed series', () => {
    const registry = new MetricsRegistry();
    const pods = registry.gauge({ name: 'pods', help: 'Pods', labels: ['node'] });
    pods.with({ node: 'a' }).set(1);
    pods.remove({ node: 'a' });
    expect(registry.text()).toBe('');
  });

  test('refuses what Prometheus would', () => {
    const registry = new MetricsRegistry();
    expect(() => registry.counter({ name: 'bad-name', help: '' })).toThrow('"bad-name" is not a metric name');
    expect(() => registry.counter({ name: 'ok', help: '', labels: ['le'] })).toThrow('"le" is not a label name');
    expect(() => registry.histogram({ name: 'h', help: '', buckets: [1, 1] })).toThrow('do not ascend');
    const twice = { name: 'twice', help: '' };
    registry.counter(twice);
    expect(() => registry.gauge(twice)).toThrow('metric twice is registered already');
    expect(() => registry.counter({ name: 'c', help: '' }).with({}).inc(-1)).toThrow('cannot grow by -1');
    const labelled = registry.counter({ name: 'l', help: '', labels: ['a'] });
    expect(() => labelled.with({} as { a: string })).toThrow('label a has no value');
  });
});
