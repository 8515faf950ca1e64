import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { core } from '#api';
import { ChunkList, type Clock, timeoutSignal } from '#base';
import { isJsonObject, type JsonObject, type JsonValue } from '#machinery';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PreemptionVictims } from '../framework/plugin.ts';
import type { ExtenderConfiguration, ExtenderTls } from './extender-configuration.ts';

export interface ExtenderFilterResult {
  /** Names of the nodes that are left. */
  readonly nodes: readonly string[];
  /** Reasons by node. */
  readonly failed: Readonly<Record<string, string>>;
  readonly unresolvable: Readonly<Record<string, string>>;
}

/** Uids of victims by node. */
export type VictimUids = ReadonlyMap<string, { readonly uids: readonly string[]; readonly violations: number }>;

/** A response is at most a list of nodes, of some kilobytes each. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
/** The scale of extenders' scores. */
export const MAX_EXTENDER_PRIORITY = 10;

/** An HTTP extender, with upstream's messages (k8s.io/kube-scheduler/extender/v1). */
export class HttpExtender {
  readonly #agent: http.Agent;
  readonly #managed: ReadonlySet<string>;

  constructor(
    readonly config: ExtenderConfiguration,
    private readonly clock: Clock,
  ) {
    const isSecure = config.urlPrefix.startsWith('https:');
    this.#agent = isSecure ? new https.Agent({ keepAlive: true, ...tlsOptions(config) }) : new http.Agent({ keepAlive: true });
    this.#managed = new Set(config.managedResources.map(({ name }) => name));
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Whether the pod requests resources that the extender manages; an extender without managed resources applies to every pod. */
  isInterested({ spec }: core.Pod): boolean {
    if (this.#managed.size === 0) return true;
    return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ resources }) =>
      [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})].some((name) => this.#managed.has(name)),
    );
  }

  async filter(pod: core.Pod, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<ExtenderFilterResult> {
    const answer = fieldsOf(await this.#post(this.config.filterVerb, this.#arguments(pod, nodes), signal));
    if (answer.error) throw new Error(String(answer.error));
    const failed = (answer.failednodes ?? {}) as Record<string, string>;
    const unresolvable = (answer.failedandunresolvablenodes ?? {}) as Record<string, string>;
    return { nodes: this.#remainingNodes(answer, nodes), failed, unresolvable };
  }

  /** Scores by node, from 0 to 10. */
  async prioritize(pod: core.Pod, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const answer = await this.#post(this.config.prioritizeVerb, this.#arguments(pod, nodes), signal);
    const list = Array.isArray(answer) ? answer.map(fieldsOf) : [];
    return new Map(list.map(({ host, score }) => [String(host ?? ''), Number(score ?? 0)]));
  }

  /** The victims per node, from the proposed ones or others; omitted nodes are no candidates. */
  async preempt(pod: core.Pod, proposed: ReadonlyMap<string, PreemptionVictims>, signal: AbortSignal): Promise<VictimUids> {
    const args = this.config.nodeCacheCapable
      ? {
          NodeNameToMetaVictims: mapped(proposed, ({ pods, violations }) =>
            victims(
              violations,
              pods.map(({ uid }) => ({ UID: uid })),
            ),
          ),
        }
      : {
          NodeNameToVictims: mapped(proposed, ({ pods, violations }) =>
            victims(
              violations,
              pods.map((info) => info.pod),
            ),
          ),
        };
    const answer = fieldsOf(await this.#post(this.config.preemptVerb, { Pod: pod, ...args }, signal));
    const nodes = isJsonObject(answer.nodenametometavictims) ? answer.nodenametometavictims : {};
    return new Map(Object.entries(nodes).map(([node, value]) => [node, metaVictims(fieldsOf(value))]));
  }

  async bind({ metadata }: core.Pod, node: string, signal: AbortSignal): Promise<void> {
    const { name, namespace, uid } = metadata;
    const args = { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node };
    const { error } = fieldsOf(await this.#post(this.config.bindVerb, args, signal));
    if (error) throw new Error(String(error));
  }

  #arguments(pod: core.Pod, nodes: readonly NodeInfo[]): object {
    if (this.config.nodeCacheCapable) return { Pod: pod, Nodes: null, NodeNames: nodes.map(({ name }) => name) };
    return { Pod: pod, Nodes: { metadata: {}, items: nodes.map(({ node }) => node) }, NodeNames: null };
  }

  #remainingNodes(answer: JsonObject, candidates: readonly NodeInfo[]): readonly string[] {
    const { nodes, nodenames } = answer;
    if (!this.config.nodeCacheCapable || !Array.isArray(nodenames)) return namesOf(nodes);
    const names = new Set(candidates.map(({ name }) => name));
    const unknownNode = nodenames.find((name) => !names.has(String(name)));
    if (unknownNode === undefined) return nodenames.map(String);
    throw new Error(
      `extender "${this.config.urlPrefix}" claims a filtered node "${String(unknownNode)}" which is not found in the input node list`,
    );
  }

  async #post(verb: string, body: object, signal: AbortSignal): Promise<JsonValue> {
    const url = `${this.config.urlPrefix}/${verb}`;
    using timeout = timeoutSignal(this.clock, this.config.timeoutMs, signal);
    const { status, text } = await post(url, JSON.stringify(body), { agent: this.#agent, signal: timeout.signal });
    if (status !== 200) throw new Error(`failed ${verb} with extender at URL ${url}, code ${status}`);
    return JSON.parse(text) as JsonValue;
  }
}

interface PostOptions {
  readonly agent: http.Agent;
  readonly signal: AbortSignal;
}

function post(url: string, body: string, options: PostOptions): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const { request } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, ...options }, (response) => {
      const chunks = new ChunkList();
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (chunks.bytes > MAX_RESPONSE_BYTES) response.destroy(new Error(`the answer is longer than ${MAX_RESPONSE_BYTES} bytes`));
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: chunks.whole().toString('utf8') }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The fields of an answer by their names in lower case: as in Go's decoder, names are case-insensitive. */
function fieldsOf(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value ?? null)) return {};
  return Object.fromEntries(Object.entries(value as JsonObject).map(([name, field]) => [name.toLowerCase(), field]));
}

function namesOf(list: JsonValue | undefined): readonly string[] {
  const { items } = fieldsOf(list);
  return Array.isArray(items) ? items.map((node) => String((node as { metadata?: { name?: string } }).metadata?.name ?? '')) : [];
}

function mapped<T>(proposed: ReadonlyMap<string, PreemptionVictims>, convert: (victims: PreemptionVictims) => T): Record<string, T> {
  return Object.fromEntries([...proposed].map(([node, nodeVictims]) => [node, convert(nodeVictims)]));
}

function victims(violations: number, pods: readonly object[]) {
  return { Pods: pods, NumPDBViolations: violations };
}

function metaVictims({ pods, numpdbviolations }: JsonObject) {
  const uids = Array.isArray(pods) ? pods.map((pod) => String(fieldsOf(pod).uid ?? '')) : [];
  return { uids, violations: Number(numpdbviolations ?? 0) };
}

function tlsOptions({ tls, enableHTTPS }: ExtenderConfiguration): https.AgentOptions {
  const { serverName, insecure = false } = tls ?? {};
  const [ca, cert, key] = [pem(tls, 'ca'), pem(tls, 'cert'), pem(tls, 'key')];
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(serverName && { servername: serverName }),
    rejectUnauthorized: !insecure && !(enableHTTPS && ca === undefined),
  };
}

function pem(tls: ExtenderTls | undefined, part: 'ca' | 'cert' | 'key'): string | undefined {
  const data = tls?.[`${part}Data`];
  const file = tls?.[`${part}File`];
  return data || (file ? readFileSync(file, 'utf8') : undefined);
}
