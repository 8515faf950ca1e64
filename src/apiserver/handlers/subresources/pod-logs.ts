import type { core } from '#api';
import { acceptByteStream, UpgradeError, upgradeOf } from '#client';
import { StatusError, serverResponseError } from '#machinery';
import type { KubeletConnector, KubeletResponse } from '../../kubelet-client/kubelet-connector.ts';
import { OBJECT_TYPES } from '../../request/negotiation.ts';
import type { ApiResponse } from '../api-response.ts';
import type { HandledSubresource } from '../handler-table.ts';
import type { ResourceCall } from '../resource-call.ts';
import { readLogOptions } from './log-options.ts';
import { containerOf } from './pod-container.ts';

const POD = { group: '', version: 'v1', kind: 'Pod' };
/** The limit of a kubelet's error text. */
const MAX_FAILURE_BYTES = 50_000;

/** Container logs, read from the kubelet. */
export function logSubresource(kubelets: KubeletConnector): HandledSubresource {
  return {
    name: 'log',
    kind: POD,
    verbs: ['get'],
    produces: ['text/plain', ...OBJECT_TYPES],
    handler: (call) => readLog(call, kubelets),
  };
}

async function readLog(call: ResourceCall, kubelets: KubeletConnector): Promise<ApiResponse> {
  const { namespace, name, request, deps } = call;
  const options = readLogOptions(request.query, name);
  const pod = (await call.resource.storage.get(namespace, name))?.object as unknown as core.Pod | undefined;
  if (pod === undefined) throw StatusError.notFound({ group: '', resource: 'pods' }, name);
  const container = containerOf(pod, options.container);
  const nodeName = pod.spec?.nodeName ?? '';
  // An unscheduled pod has no logs.
  if (nodeName === '') return { type: 'raw', code: 204, contentType: 'text/plain', body: '' };
  const node = await deps.table.storage('', 'v1', 'nodes').get('', nodeName);
  if (node === undefined) throw StatusError.notFound({ group: '', resource: 'nodes' }, nodeName);
  const response = await kubelets.request({
    node: node.object as unknown as core.Node,
    method: 'GET',
    path: `/containerLogs/${namespace}/${name}/${container}`,
    query: options.query,
    signal: request.signal,
    skipVerification: options.skipVerification,
  });
  await checkResponse(response, name);
  const header = (field: string) => request.header(field);
  if (upgradeOf(header) === 'websocket') return overWebSocket(header, response.body);
  return { type: 'stream', code: 200, contentType: 'text/plain', body: response.body };
}

function overWebSocket(header: (name: string) => string | undefined, body: AsyncIterable<Uint8Array>): ApiResponse {
  try {
    return { type: 'upgrade', ...acceptByteStream(header, body) };
  } catch (error) {
    if (!(error instanceof UpgradeError)) throw error;
    const { code, message, headers } = error;
    return { type: 'raw', code, contentType: 'text/plain; charset=utf-8', body: `${message}\n`, headers };
  }
}

async function checkResponse({ code, body }: KubeletResponse, name: string): Promise<void> {
  if (code >= 200 && code <= 206) return;
  const text = await readText(body);
  if (code === 500) throw StatusError.internalError(new Error(text));
  if (code === 400) throw StatusError.badRequest(text);
  const resource = { group: '', resource: 'pods/log' };
  throw serverResponseError({ code, verb: '', resource, name, serverMessage: text, retryAfterSeconds: 0, unexpected: false });
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_FAILURE_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_FAILURE_BYTES).toString('utf8');
}
