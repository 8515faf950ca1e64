import { type Clock, type Logger, Lru, type Random } from '#base';
import type { ServerAddress } from '../config/dns-config-map.ts';
import type { DnsMetrics } from '../dns-metrics.ts';
import { type DnsQuery, failureReply, isTruncated, questionEnd, rcodeOf } from '../message/dns-message.ts';
import { cacheSeconds, subtractTtls } from '../message/message-records.ts';
import { RCODE } from '../zone/dns-answer.ts';
import { exchangeTcp, exchangeUdp } from './exchange.ts';

export interface ForwarderDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: DnsMetrics;
}

interface CachedReply {
  readonly reply: Buffer;
  readonly storedMs: number;
  readonly freshMs: number;
}

const TIMEOUT_MS = 2_000;
const CACHED_NAMES = 10_000;
/** As CoreDNS' `cache 30`: the maximum TTL. */
const MAX_TTL_SECONDS = 30;
/** Stale answers are served for this time while no server answers. */
const STALE_MS = 3_600_000;
const MAX_CONCURRENT = 1_000;
const MAX_PER_CLIENT = 100;

/** Forwards queries for names outside of the cluster, and caches the answers. */
export class Forwarder {
  readonly #cache = new Lru<string, CachedReply>({ capacity: CACHED_NAMES });
  readonly #pending = new Map<string, Promise<Buffer>>();
  readonly #clients = new Map<string, number>();
  #active = 0;

  constructor(private readonly deps: ForwarderDeps) {}

  /** The reply with the client's id. REFUSED when too many queries are in flight. */
  async forward(query: DnsQuery, client: string, servers: readonly ServerAddress[]): Promise<Buffer> {
    const key = cacheKey(query);
    const cached = this.#cache.get(key);
    const now = this.deps.clock.now();
    const { metrics } = this.deps;
    metrics.cacheRequests.inc();
    if (cached !== undefined && now < cached.storedMs + cached.freshMs) {
      metrics.cacheHit(rcodeOf(cached.reply) === RCODE.nxDomain);
      return aged(cached, query, now);
    }
    metrics.cacheMisses.inc();
    if (servers.length === 0) return failureReply(query.bytes, RCODE.servFail);
    const perClient = this.#clients.get(client) ?? 0;
    if (this.#active >= MAX_CONCURRENT || perClient >= MAX_PER_CLIENT) {
      metrics.rejectedForwards.inc();
      return failureReply(query.bytes, RCODE.refused);
    }
    this.#active++;
    this.#clients.set(client, perClient + 1);
    try {
      const reply = await this.#ask(key, query, servers);
      return withClientId(reply, query);
    } catch (error) {
      this.deps.logger.debug('no name server answered', { name: query.question.name, error });
      if (cached === undefined || now >= cached.storedMs + STALE_MS) return failureReply(query.bytes, RCODE.servFail);
      metrics.servedStale.inc();
      return aged(cached, query, now);
    } finally {
      this.#active--;
      const left = (this.#clients.get(client) ?? 1) - 1;
      if (left === 0) this.#clients.delete(client);
      else this.#clients.set(client, left);
    }
  }

  /** Concurrent identical queries share one request. */
  #ask(key: string, query: DnsQuery, servers: readonly ServerAddress[]): Promise<Buffer> {
    let pending = this.#pending.get(key);
    if (pending === undefined) {
      pending = this.#askEach(query, servers).finally(() => this.#pending.delete(key));
      this.#pending.set(key, pending);
      pending.then((reply) => this.#remember(key, reply)).catch(() => {});
    }
    return pending;
  }

  async #askEach(query: DnsQuery, servers: readonly ServerAddress[]): Promise<Buffer> {
    let failure: unknown;
    for (const server of servers) {
      try {
        const reply = await this.#askOne(query, server);
        if (rcodeOf(reply) !== RCODE.servFail) return reply;
        failure = new Error(`${server.host} answered SERVFAIL`);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async #askOne(query: DnsQuery, server: ServerAddress): Promise<Buffer> {
    const { clock, random, metrics } = this.deps;
    const options = { clock, timeoutMs: TIMEOUT_MS, id: random.int(65_536) };
    const started = clock.monotonic();
    let reply: Buffer | undefined;
    try {
      reply = await exchangeUdp(query.bytes, server, options);
      if (isTruncated(reply)) reply = await exchangeTcp(query.bytes, server, options);
      return reply;
    } finally {
      metrics.forwarded(`${server.host}:${server.port}`, reply && rcodeOf(reply), (clock.monotonic() - started) / 1000);
    }
  }

  #remember(key: string, reply: Buffer): void {
    const freshMs = freshness(reply);
    if (freshMs > 0) this.#cache.set(key, { reply, storedMs: this.deps.clock.now(), freshMs });
  }
}

/** Question, recursion flag and EDNS options: everything that affects an answer. */
function cacheKey({ bytes }: DnsQuery): string {
  return `${bytes.readUInt16BE(2)} ${bytes.subarray(4).toString('latin1').toLowerCase()}`;
}

function freshness(reply: Buffer): number {
  const rcode = rcodeOf(reply);
  if (rcode !== RCODE.noError && rcode !== RCODE.nxDomain) return 0;
  return Math.min(cacheSeconds(reply) ?? 0, MAX_TTL_SECONDS) * 1000;
}

/** The cached answer with the remaining TTL, in the client's letter case. */
function aged({ reply, storedMs }: CachedReply, query: DnsQuery, now: number): Buffer {
  const seconds = Math.floor((now - storedMs) / 1000);
  const copy = withClientId(reply, query);
  if (seconds > 0) subtractTtls(copy, seconds);
  return copy;
}

function withClientId(reply: Buffer, query: DnsQuery): Buffer {
  const copy = Buffer.from(reply);
  copy.writeUInt16BE(query.id, 0);
  query.bytes.copy(copy, 12, 12, questionEnd(query.bytes));
  return copy;
}
