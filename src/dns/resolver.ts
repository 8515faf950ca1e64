import type { Answer } from 'dns-packet';
import packet from 'dns-packet';
import { type Clock, isPromise, Lru, type Random } from '#base';
import { type DnsConfig, type ServerAddress, serverAddress } from './config/dns-config-map.ts';
import { type DnsMetrics, type Plugin, type Protocol, typeLabel } from './dns-metrics.ts';
import type { Forwarder } from './forward/forwarder.ts';
import { type DnsQuery, encodeReply, failureReply, HEADER_BYTES, readQuery, truncated } from './message/dns-message.ts';
import type { ClusterZone } from './zone/cluster-zone.ts';
import { type DnsAnswer, RCODE } from './zone/dns-answer.ts';
import type { ServiceIndex } from './zone/service-index.ts';

export interface ResolverDeps {
  readonly zone: ClusterZone;
  readonly index: ServiceIndex;
  readonly forwarder: Forwarder;
  readonly metrics: DnsMetrics;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: Random;
  /** The current configuration. */
  config(): DnsConfig;
  /** The name servers of the node. */
  upstream(): readonly ServerAddress[];
  /** False until the initial sync is complete. */
  isSynced(): boolean;
  /** A random name that only this server queries: receiving it means a forwarding loop. */
  readonly loopProbe: string;
  onLoop(): void;
}

/** A reply and its source. */
interface Outcome {
  readonly reply: Buffer;
  readonly plugin: Plugin;
}

interface CachedResponse {
  readonly generation: number;
  readonly reply: Buffer;
  readonly type: string;
}

/** Longer queries are not cached. */
const MAX_KEY_BYTES = 512;
const CACHED_ANSWERS = 10_000;
const HOSTS_TTL_SECONDS = 30;
/** Expanding compressed names costs up to the square of the length. */
const MAX_FOLLOWED_BYTES = 16_384;

/** Maps query bytes to reply bytes. */
export class Resolver {
  readonly #answers = new Lru<string, CachedResponse>({ capacity: CACHED_ANSWERS });

  constructor(private readonly deps: ResolverDeps) {}

  /** Undefined for messages without a reply. Never rejects. */
  resolve(bytes: Buffer, protocol: Protocol, client: string): Buffer | Promise<Buffer> | undefined {
    const started = this.deps.clock.monotonic();
    const counted = ({ reply, plugin }: Outcome) => {
      const seconds = (this.deps.clock.monotonic() - started) / 1000;
      this.deps.metrics.response({ protocol, request: bytes, reply, plugin, seconds });
      return reply;
    };
    const outcome = this.#cached(bytes, protocol, client) ?? this.#read(bytes, protocol, client);
    if (outcome === undefined) return undefined;
    return isPromise(outcome) ? outcome.then(counted) : counted(outcome);
  }

  #read(bytes: Buffer, protocol: Protocol, client: string): Outcome | Promise<Outcome> | undefined {
    const query = readQuery(bytes);
    if (query === undefined) return undefined;
    if ('rcode' in query) return { reply: failureReply(query.bytes, query.rcode), plugin: '' };
    this.deps.metrics.request(protocol, client, typeLabel(query.question.type));
    return this.#answer(query, protocol, client);
  }

  #answer(query: DnsQuery, protocol: Protocol, client: string): Outcome | Promise<Outcome> {
    if (query.question.name === this.deps.loopProbe) this.deps.onLoop();
    if (query.question.class !== 'IN') return { reply: failureReply(query.bytes, RCODE.refused), plugin: '' };
    if (!this.deps.isSynced()) return { reply: failureReply(query.bytes, RCODE.servFail), plugin: '' };
    const fitted = (reply: Buffer, plugin: Plugin) => ({ reply: protocol === 'udp' ? truncated(reply, query) : reply, plugin });
    const answer = this.deps.zone.answer(query.question);
    // No service has such a name, and a reply could not encode it.
    if (!query.isTextual && answer !== undefined) return { reply: failureReply(query.bytes, RCODE.nxDomain), plugin: 'kubernetes' };
    const hosts = query.isTextual ? this.#hosts(query) : undefined;
    if (hosts !== undefined) return fitted(this.#encode(query, hosts, false), 'hosts');
    if (answer === undefined) return this.#forward(query, client).then((reply) => fitted(reply, 'forward'));
    if (answer.follow !== undefined) return this.#follow(query, answer, client).then((reply) => fitted(reply, 'kubernetes'));
    if (answer.isBalanced) {
      return fitted(this.#encode(query, { ...answer, answers: this.#rotated(answer.answers) }, true), 'kubernetes');
    }
    const outcome = fitted(this.#encode(query, answer, true), 'kubernetes');
    this.#remember(query, protocol, outcome.reply);
    return outcome;
  }

  #encode(query: DnsQuery, answer: DnsAnswer, isAuthoritative: boolean): Buffer {
    return encodeReply(query, answer, { isAuthoritative, canRecurse: true });
  }

  /** ExternalName: adds the records of its target. */
  async #follow(query: DnsQuery, answer: DnsAnswer, client: string): Promise<Buffer> {
    const question = { name: answer.follow ?? '', type: query.question.type as 'A', class: 'IN' as const };
    const bytes = packet.encode({ type: 'query', id: query.id, flags: packet.RECURSION_DESIRED, questions: [question] });
    const dnsQuery = readQuery(bytes) as DnsQuery;
    const reply = await this.#forward(dnsQuery, client);
    let records: readonly Answer[] = [];
    try {
      if (reply.length <= MAX_FOLLOWED_BYTES) records = packet.decode(reply).answers ?? [];
    } catch {
      // A malformed or very large answer is left out; the CNAME remains, and clients follow it.
    }
    return this.#encode(query, { ...answer, answers: [...answer.answers, ...records] }, true);
  }

  #forward(query: DnsQuery, client: string): Promise<Buffer> {
    return this.deps.forwarder.forward(query, client, this.#serversFor(query.question.name));
  }

  /** The servers of the longest matching stub domain; else those of the configuration or the node. */
  #serversFor(name: string): readonly ServerAddress[] {
    const { stubDomains, upstreamNameservers } = this.deps.config();
    for (let rest = name; stubDomains.size > 0 && rest !== ''; rest = rest.slice(rest.indexOf('.') + 1)) {
      const servers = stubDomains.get(rest);
      if (servers !== undefined) return addresses(servers);
      if (!rest.includes('.')) break;
    }
    return upstreamNameservers === undefined ? this.deps.upstream() : addresses(upstreamNameservers);
  }

  #hosts({ question: { name, type } }: DnsQuery): DnsAnswer | undefined {
    const addresses = this.deps.config().hosts.get(name);
    if (addresses === undefined) return undefined;
    const answers = addresses.filter((address) => (address.includes(':') ? 'AAAA' : 'A') === type);
    const records = answers.map((data) => ({ type: type as 'A', name, ttl: HOSTS_TTL_SECONDS, data }));
    return { rcode: RCODE.noError, answers: records, authorities: [], additionals: [] };
  }

  /** Round robin: rotates the addresses. */
  #rotated(answers: readonly Answer[]): readonly Answer[] {
    const start = this.deps.random.int(answers.length);
    return [...answers.slice(start), ...answers.slice(0, start)];
  }

  #cached(bytes: Buffer, protocol: Protocol, client: string): Outcome | undefined {
    if (bytes.length < HEADER_BYTES || bytes.length > MAX_KEY_BYTES) return undefined;
    const cached = this.#answers.get(keyOf(bytes, protocol));
    if (cached === undefined || cached.generation !== this.deps.index.generation) return undefined;
    this.deps.metrics.request(protocol, client, cached.type);
    const reply = Buffer.from(cached.reply);
    bytes.copy(reply, 0, 0, 2);
    return { reply, plugin: 'kubernetes' };
  }

  #remember({ bytes, question }: DnsQuery, protocol: Protocol, reply: Buffer): void {
    if (bytes.length > MAX_KEY_BYTES) return;
    const type = typeLabel(question.type);
    this.#answers.set(keyOf(bytes, protocol), { generation: this.deps.index.generation, reply, type });
  }
}

/** The message without its id. */
function keyOf(bytes: Buffer, protocol: Protocol): string {
  return protocol + bytes.toString('latin1', 2);
}

function addresses(servers: readonly string[]): readonly ServerAddress[] {
  return servers.flatMap((server) => serverAddress(server) ?? []);
}
