import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { core } from '#api';
import { containerPort } from './container-port.ts';
import { dialErrorText, joinHostPort, readErrorText } from './go-errors.ts';
import type { ProbeAnswer, ProbeTarget } from './prober.ts';

const MAX_REDIRECTS = 10;
const MAX_BODY_BYTES = 10 * 1024;

export interface HttpProbeOptions {
  readonly signal: AbortSignal;
  /** Such as `kube-probe/1.36`. */
  readonly userAgent: string;
}

/**
 * Status 200 to 399 succeeds; redirects to the same host are followed, others succeed with a warning. Certificates are not
 * verified. Rejects when the request is invalid.
 */
export async function httpProbe(action: core.HTTPGetAction, target: ProbeTarget, options: HttpProbeOptions): Promise<ProbeAnswer> {
  const port = containerPort(action.port, target.container);
  const host = action.host || target.podIp;
  let url = firstUrl(action, host, port);
  const headers = headersOf(action, options.userAgent);
  for (let redirects = 0; ; redirects++) {
    const outcome = await get(url, headers, options.signal);
    if ('error' in outcome) return failed(`Get ${JSON.stringify(shownUrl(url))}: ${outcome.error}`);
    const next = redirectOf(outcome, url);
    if (next === undefined || next.hostname !== url.hostname) return judged(outcome);
    if (redirects + 1 >= MAX_REDIRECTS) return failed(`Get ${JSON.stringify(outcome.location)}: stopped after ${MAX_REDIRECTS} redirects`);
    url = next;
  }
}

function failed(output: string): ProbeAnswer {
  return { passed: false, output };
}

function judged({ code, body }: Answer): ProbeAnswer {
  if (code < 200 || code >= 400) return failed(`HTTP probe failed with statuscode: ${code}`);
  if (code < 300) return { passed: true, output: body };
  return { passed: true, isWarning: true, output: `Probe terminated redirects, Response body: ${body}` };
}

interface Answer {
  readonly code: number;
  readonly location: string | undefined;
  readonly body: string;
}

function firstUrl({ scheme = 'HTTP', path = '' }: core.HTTPGetAction, host: string, port: number): URL {
  const base = `${scheme.toLowerCase()}://${joinHostPort(host, port)}`;
  return new URL(path.startsWith('/') ? base + path : `${base}/${path}`);
}

/** Includes default ports, as upstream. */
function shownUrl(url: URL): string {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return `${url.protocol}//${url.hostname}:${port}${url.pathname}${url.search}`;
}

function headersOf({ httpHeaders = [] }: core.HTTPGetAction, userAgent: string): Record<string, string | string[]> {
  const headers = new Map<string, string[]>();
  for (const { name, value } of httpHeaders) {
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  if (!headers.has('user-agent')) headers.set('user-agent', [userAgent]);
  if (!headers.has('accept')) headers.set('accept', ['*/*']);
  else if (headers.get('accept')?.[0] === '') headers.delete('accept');
  return Object.fromEntries(Array.from(headers, ([key, values]) => [key, values.length === 1 ? (values[0] as string) : values]));
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function redirectOf({ code, location }: Answer, from: URL): URL | undefined {
  if (!REDIRECTS.has(code) || location === undefined || location === '') return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

function get(url: URL, headers: Record<string, string | string[]>, signal: AbortSignal): Promise<Answer | { readonly error: string }> {
  return new Promise((resolve) => {
    let isConnected = false;
    const options = { headers, agent: false as const, signal };
    const sent = url.protocol === 'https:' ? httpsRequest(url, { ...options, rejectUnauthorized: false }) : httpRequest(url, options);
    const address = joinHostPort(url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || (url.protocol === 'https:' ? 443 : 80)));
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        isConnected = true;
      });
    });
    sent.on('error', (error) => resolve({ error: errorText(error, { signal, isConnected, address }) }));
    sent.on('response', (response) => void answerOf(response).then(resolve, (error: Error) => resolve({ error: readErrorText(error) })));
    sent.end();
  });
}

function errorText(error: Error, { signal, isConnected, address }: { signal: AbortSignal; isConnected: boolean; address: string }): string {
  if (signal.aborted) {
    return isConnected
      ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
      : `dial tcp ${address}: i/o timeout (Client.Timeout exceeded while awaiting headers)`;
  }
  return isConnected ? readErrorText(error) : dialErrorText(address, error);
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, MAX_BODY_BYTES - bytes));
    bytes += chunk.length;
    if (bytes >= MAX_BODY_BYTES) break;
  }
  response.destroy();
  return { code: response.statusCode ?? 0, location: response.headers.location, body: Buffer.concat(chunks).toString('utf8') };
}
