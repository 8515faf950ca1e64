import { AsyncLocalStorage } from 'node:async_hooks';
import type { core } from '#api';
import {
  type Attributes,
  type Clock,
  collectorEndpoint,
  type Logger,
  parseTraceparent,
  type Random,
  SPAN_KIND,
  type Span,
  SpanExporter,
  type StartOptions,
  type TraceContext,
  Tracer,
} from '#base';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { KubeletCall, KubeletResponse } from '../server/kubelet-call.ts';

export interface KubeletTracingDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The names of upstream's spans. */
export type PodStepName = 'syncPod' | 'syncTerminatingPod' | 'syncTerminatedPod';

const IMAGE_CALLS: ReadonlySet<string> = new Set(['listImages', 'imageStatus', 'pullImage', 'removeImage', 'imageFsInfo']);

/** Traces of a kubelet: the steps of pods with their calls of the runtime, and requests to its server. */
export class KubeletTracing implements AsyncDisposable {
  readonly #tracer: Tracer;
  readonly #exporter: SpanExporter;
  /** The span that calls of the runtime belong to. */
  readonly #current = new AsyncLocalStorage<TraceContext>();

  constructor(tracing: NonNullable<KubeletConfiguration['tracing']>, nodeName: string, deps: KubeletTracingDeps) {
    const { endpoint } = collectorEndpoint(tracing.endpoint);
    const resource = { 'service.name': 'kubelet', 'host.name': nodeName };
    this.#exporter = new SpanExporter({ endpoint, resource, clock: deps.clock, logger: deps.logger });
    this.#tracer = new Tracer({ exporter: this.#exporter, samplingRatePerMillion: tracing.samplingRatePerMillion ?? 0, ...deps });
  }

  podStep<T>(name: PodStepName, { metadata }: core.Pod, step: () => Promise<T>): Promise<T> {
    const attributes = {
      'k8s.pod.uid': metadata.uid ?? '',
      'k8s.pod': `${metadata.namespace}/${metadata.name}`,
      'k8s.pod.name': metadata.name ?? '',
      'k8s.namespace.name': metadata.namespace ?? '',
    };
    return this.#runInSpan(name, { attributes }, step);
  }

  /** `method` is a method of the runtime, such as `runPodSandbox`. */
  runtimeCall<T>(method: string, call: () => Promise<T>): Promise<T> {
    const service = `runtime.v1.${IMAGE_CALLS.has(method) ? 'ImageService' : 'RuntimeService'}`;
    const rpc = method.charAt(0).toUpperCase() + method.slice(1);
    const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': rpc };
    return this.#runInSpan(`${service}/${rpc}`, { attributes, kind: SPAN_KIND.client, parent: this.#current.getStore() }, call);
  }

  request(call: KubeletCall, handle: (call: KubeletCall) => Promise<KubeletResponse>): Promise<KubeletResponse> {
    const { method, path, headers = {} } = call;
    const parent = parseTraceparent(Object.hasOwn(headers, 'traceparent') ? headers.traceparent : undefined);
    const attributes = { 'http.request.method': method, 'url.path': path };
    const name = `${method} /${path.split('/')[1] ?? ''}`;
    return this.#runInSpan(name, { attributes, kind: SPAN_KIND.server, parent }, async (span) => {
      const answer = await handle(call);
      if ('code' in answer) span?.set({ 'http.response.status_code': answer.code });
      return answer;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#exporter[Symbol.asyncDispose]();
  }

  async #runInSpan<T>(name: string, options: StartOptions & { attributes: Attributes }, run: (span?: Span) => Promise<T>): Promise<T> {
    const { attributes, ...start } = options;
    const span = this.#tracer.start(name, start)?.set(attributes);
    if (span === undefined) return run();
    try {
      return await this.#current.run(span.context, () => run(span));
    } catch (error) {
      span.fail((error as Error).message);
      throw error;
    } finally {
      span.end();
    }
  }
}

/** Undefined: nothing is traced. */
export function openKubeletTracing(
  tracing: KubeletConfiguration['tracing'],
  nodeName: string,
  deps: KubeletTracingDeps,
): KubeletTracing | undefined {
  return tracing && new KubeletTracing(tracing, nodeName, deps);
}
