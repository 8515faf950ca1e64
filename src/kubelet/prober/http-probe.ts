import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { core } from '#api';
import { goQuote, urlReferenceProblem } from '#machinery';
import { containerPort } from './container-port.ts';
import { dialErrorText, HTTP_INSTEAD_OF_HTTPS, joinHostPort, readErrorText } from './go-errors.ts';
import { type HookResponse, ProbeError, type ProbeResult, type ProbeTarget } from './prober.ts';
import { type RequestHeaders, requestHeaders } from './request-headers.ts';

const MAX_REDIRECTS = 10;
const MAX_BODY_BYTES = 10 * 1024;

export interface HttpProbeOptions {
  readonly signal: AbortSignal;
  /** Such as `kube-probe/1.36`. */
  readonly userAgent: string;
  /** How Go's client of hooks differs from that of probes: it keeps connections, and takes compressed answers. */
  readonly isHook?: boolean;
}

/**
 * Status 200 to 399 succeeds; redirects to the same host are followed, others succeed with a warning. Certificates are not
 * verified. Rejects when the request is invalid, or the body of the answer breaks off.
 */
export async function httpProbe(action: core.HTTPGetAction, target: ProbeTarget, options: HttpProbeOptions): Promise<ProbeResult> {
  const outcome = await followed(firstUrl(action, target), action, options);
  if ('error' in outcome) return failed(outcome.error);
  if (outcome.bodyError !== undefined) throw new ProbeError(outcome.bodyError, 'failure');
  return probeResult(outcome);
}

/** The request of a lifecycle hook. Any answer is a success. Rejects when there is none. */
export async function httpHook(action: core.HTTPGetAction, target: ProbeTarget, options: HttpProbeOptions): Promise<HookResponse> {
  const url = firstUrl(action, target);
  const outcome = await followed(url, action, { ...options, isHook: true });
  if (!('error' in outcome)) return {};
  if (!outcome.error.endsWith(HTTP_INSTEAD_OF_HTTPS)) throw new Error(outcome.error);
  const { httpHeaders = [] } = action;
  const plain = { ...action, httpHeaders: httpHeaders.filter(({ name }) => name.toLowerCase() !== 'authorization') };
  const again = await followed(new URL(url.href.replace(/^https:/, 'http:')), plain, { ...options, isHook: true });
  if ('error' in again) throw new Error(outcome.error);
  return { fellBackFrom: hostOf(url) };
}

type Outcome = ProbeResponse | { readonly error: string };

async function followed(first: URL, action: core.HTTPGetAction, options: HttpProbeOptions): Promise<Outcome> {
  let headers = { Host: hostOf(first), ...requestHeaders(action, options.userAgent) };
  let url = first;
  for (let redirects = 0; ; redirects++) {
    const outcome = await get(url, headers, options);
    if ('error' in outcome) return { error: `Get ${goQuote(shownUrl(url))}: ${outcome.error}` };
    const problem = locationProblem(outcome);
    if (problem !== undefined) return { error: `Get ${goQuote(shownUrl(url))}: ${problem}` };
    const next = redirectOf(outcome, url);
    if (next === undefined || next.hostname !== url.hostname) return outcome;
    if (redirects + 1 >= MAX_REDIRECTS)
      return { error: `Get ${goQuote(outcome.location ?? '')}: stopped after ${MAX_REDIRECTS} redirects` };
    // A path leaves the host as it was named.
    if (URL.canParse(outcome.location ?? '')) headers = { ...headers, Host: next.host };
    url = next;
  }
}

function failed(output: string): ProbeResult {
  return { passed: false, output };
}

function probeResult({ code, body }: ProbeResponse): ProbeResult {
  if (code < 200 || code >= 400) return failed(`HTTP probe failed with statuscode: ${code}`);
  if (code < 300) return { passed: true, output: body };
  return { passed: true, isWarning: true, output: `Probe terminated redirects, Response body: ${body}` };
}

interface ProbeResponse {
  readonly code: number;
  readonly location: string | undefined;
  readonly body: string;
  /** Why the body is incomplete. */
  readonly bodyError?: string;
}

function firstUrl({ scheme = 'HTTP', path = '', host, port }: core.HTTPGetAction, { podIp, container }: ProbeTarget): URL {
  const base = `${scheme.toLowerCase()}://${joinHostPort(host || podIp, containerPort(port, container))}`;
  return new URL(path.startsWith('/') ? base + path : `${base}/${path}`);
}

/** Includes default ports, as upstream. */
function shownUrl(url: URL): string {
  return `${url.protocol}//${hostOf(url)}${url.pathname}${url.search}${url.hash}`;
}

function hostOf(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function locationProblem({ code, location = '' }: ProbeResponse): string | undefined {
  const problem = REDIRECTS.has(code) ? urlReferenceProblem(location) : undefined;
  return problem && `failed to parse Location header ${goQuote(location)}: ${problem}`;
}

function redirectOf({ code, location }: ProbeResponse, from: URL): URL | undefined {
  if (!REDIRECTS.has(code) || location === undefined || location === '') return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

function get(url: URL, own: RequestHeaders, { signal, isHook = false }: HttpProbeOptions): Promise<Outcome> {
  return new Promise((resolve) => {
    let isConnected = false;
    let isSecure = url.protocol !== 'https:';
    let hasResponse = false;
    const headers = { ...own, ...(isHook && { 'Accept-Encoding': 'gzip' }) };
    const options = { headers, agent: false as const, signal };
    const sent = url.protocol === 'https:' ? httpsRequest(url, { ...options, rejectUnauthorized: false }) : httpRequest(url, options);
    const address = joinHostPort(url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || (url.protocol === 'https:' ? 443 : 80)));
    if (isHook) sent.removeHeader('Connection');
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        isConnected = true;
      });
      socket.once('secureConnect', () => {
        isSecure = true;
      });
    });
    sent.on('error', (error) => {
      // What follows a whole answer counts for nothing, and an answer that breaks off says so itself.
      if (!hasResponse) resolve({ error: errorText(error, { signal, isConnected, isSecure, address }) });
    });
    sent.on('response', (response) => {
      hasResponse = true;
      void answerOf(response, signal).then(resolve, (error) => resolve({ error: readErrorText(error) }));
    });
    sent.end();
  });
}

interface RequestProgress {
  readonly signal: AbortSignal;
  readonly isConnected: boolean;
  /** TLS, if any, is established. */
  readonly isSecure: boolean;
  readonly address: string;
}

function errorText(error: Error, { signal, isConnected, isSecure, address }: RequestProgress): string {
  if (signal.aborted) {
    const problem = isConnected && !isSecure ? 'net/http: request canceled while waiting for connection' : 'context deadline exceeded';
    return `${problem} (Client.Timeout exceeded while awaiting headers)`;
  }
  return isConnected ? readErrorText(error) : dialErrorText(address, error);
}

async function answerOf(response: IncomingMessage, signal: AbortSignal): Promise<ProbeResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { statusCode: code = 0, headers } = response;
  const answer = () => ({ code, location: headers.location, body: Buffer.concat(chunks).toString('utf8') });
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, MAX_BODY_BYTES - bytes));
      bytes += chunk.length;
      if (bytes >= MAX_BODY_BYTES) break;
    }
    response.destroy();
    return answer();
  } catch {
    const bodyError = signal.aborted
      ? 'context deadline exceeded (Client.Timeout or context cancellation while reading body)'
      : 'unexpected EOF';
    return { ...answer(), bodyError };
  }
}
