import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { EXPORT_TRACES, GrpcServer, type MessageOf, realClock, type SpanMessage, seededRandom, silentLogger, unaryMethod } from '#base';
import { textResponse } from '../server/kubelet-call.ts';
import { KubeletTracing } from './kubelet-tracing.ts';

type ExportedSpan = MessageOf<typeof SpanMessage>;

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const POD = { metadata: { name: 'web', namespace: 'shop', uid: 'u-1' } };

let spans: ExportedSpan[] = [];
let collector: GrpcServer;
beforeAll(async () => {
  const handle = ({ resourceSpans }: MessageOf<typeof EXPORT_TRACES.request>) => {
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    return {};
  };
  collector = await GrpcServer.start({ endpoint: 'http://127.0.0.1:0', methods: [unaryMethod(EXPORT_TRACES, handle)] });
});
afterAll(() => collector[Symbol.asyncDispose]());
beforeEach(() => {
  spans = [];
});

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** What the collector has, once the kubelet has stopped. */
async function traced(samplingRatePerMillion: number, work: (tracing: KubeletTracing) => Promise<unknown>) {
  const deps = { clock: realClock, random: seededRandom(1), logger: silentLogger };
  const config = { endpoint: new URL(collector.endpoint).host, samplingRatePerMillion };
  {
    await using tracing = new KubeletTracing(config, 'node-1', deps);
    await work(tracing);
  }
  return new Map(spans.map((span) => [span.name, span]));
}

test('runtime calls have spans within the span of the pod sync', async () => {
  const byName = await traced(1_000_000, (tracing) =>
    tracing.podStep('syncPod', POD, async () => {
      await tracing.runtimeCall('runPodSandbox', async () => 'id');
      await tracing.runtimeCall('pullImage', () => Promise.reject(new Error('no such image'))).catch(() => {});
    }),
  );
  const [step, sandbox, pull] = ['syncPod', 'runtime.v1.RuntimeService/RunPodSandbox', 'runtime.v1.ImageService/PullImage'].map((name) =>
    byName.get(name),
  );
  expect(step?.attributes.map(({ key, value }) => `${key}=${value?.text}`)).toContain('k8s.pod=shop/web');
  expect([sandbox, pull].map((span) => hex(span?.parentSpanId ?? Buffer.of()))).toEqual(Array(2).fill(hex(step?.spanId ?? Buffer.of())));
  expect(pull?.status?.message).toBe('no such image');
});

test('a request to the kubelet continues the trace of its caller', async () => {
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
  const call = { method: 'GET', path: '/containerLogs/shop/web/c', query: new URLSearchParams(), headers };
  const byName = await traced(0, (tracing) => tracing.request(call, async () => textResponse(404, 'no such pod')));
  const span = byName.get('GET /containerLogs');
  expect([hex(span?.traceId ?? Buffer.of()), hex(span?.parentSpanId ?? Buffer.of())]).toEqual([TRACE, PARENT]);
  expect(span?.attributes.find(({ key }) => key === 'http.response.status_code')?.value?.number).toBe(404);
});

test('no spans are exported for unsampled pod syncs', async () => {
  const byName = await traced(0, (tracing) => tracing.podStep('syncPod', POD, () => tracing.runtimeCall('version', async () => 'v1')));
  expect(byName.size).toBe(0);
});
