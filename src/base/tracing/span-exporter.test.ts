import { expect, test } from 'vitest';
import { EXPORT_TRACES, GrpcServer, silentLogger, unaryMethod, VirtualClock } from '#base';
import { SpanExporter } from './span-exporter.ts';

test('a collector that never answers holds up the stop for five seconds, not for each batch', async () => {
  const clock = new VirtualClock();
  const { hasRequest, method, answer } = hangingCollector();
  await using collector = await GrpcServer.start({ endpoint: 'http://127.0.0.1:0', methods: [method] });
  const exporter = new SpanExporter({ endpoint: collector.endpoint, resource: {}, clock, logger: silentLogger });
  for (let i = 0; i < 2000; i++) exporter.add({ name: 'list' });
  await hasRequest;
  const stopped = exporter[Symbol.asyncDispose]();
  await clock.advance(5000);
  await stopped;
  expect(clock.monotonic()).toBe(5000);
  answer();
});

function hangingCollector() {
  let onRequest = () => {};
  let answer = () => {};
  const hasRequest = new Promise<void>((resolve) => {
    onRequest = resolve;
  });
  const method = unaryMethod(EXPORT_TRACES, () => {
    onRequest();
    return new Promise<object>((resolve) => {
      answer = () => resolve({});
    });
  });
  return { hasRequest, method, answer: () => answer() };
}
