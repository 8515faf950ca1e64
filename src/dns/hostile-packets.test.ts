import packet, { type RecordType } from 'dns-packet';
import { beforeAll, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { isPromise, MetricsRegistry, type Random, realClock, seededRandom, silentLogger } from '#base';
import { NO_CONFIG } from './config/dns-config-map.ts';
import { DnsMetrics } from './dns-metrics.ts';
import { Forwarder } from './forward/forwarder.ts';
import { Resolver } from './resolver.ts';
import { ClusterZone } from './zone/cluster-zone.ts';
import { ServiceIndex } from './zone/service-index.ts';

/** A million on request; CI has less time. */
const PACKETS = Number(process.env.DNS_FUZZ ?? 50_000);
const SEED = Number(process.env.DNS_FUZZ_SEED ?? 7);
const MAX_UDP_BYTES = 1232;

const NAMES = ['web.default.svc.cluster.local', '_http._tcp.web.default.svc.cluster.local', '10-1-2-3.default.pod.cluster.local'];
const TYPES: readonly RecordType[] = ['A', 'AAAA', 'SRV', 'PTR', 'TXT', 'SOA', 'ANY' as RecordType, 'OPT'];

function goodQuery(random: Random): Buffer {
  const questions = [
    { type: random.pick(TYPES), name: random.pick([...NAMES, '77.0.96.10.in-addr.arpa', 'cluster.local']), class: 'IN' as const },
  ];
  return Buffer.from(packet.encode({ type: 'query', id: random.int(65_536), flags: packet.RECURSION_DESIRED, questions }));
}

/** A header that announces records, followed by labels and compression pointers to anywhere, including themselves. */
function promises(random: Random): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(random.int(65_536), 0);
  for (const at of [4, 6, 8, 10]) head.writeUInt16BE(random.pick([0, 1, 1, 2, 65_535]), at);
  const parts: Buffer[] = [head];
  for (let i = random.int(20); i >= 0; i--) {
    const pointer = Buffer.from([0xc0 | random.int(64), random.int(256)]);
    const label = Buffer.concat([Buffer.from([random.int(64)]), Buffer.from(random.bytes(random.int(64)))]);
    parts.push(random.pick([pointer, Buffer.from([0xc0, 12]), label, Buffer.from([0]), Buffer.from(random.bytes(random.int(12)))]));
  }
  return Buffer.concat(parts);
}

function hostilePacket(random: Random): Buffer {
  const kind = random.int(4);
  if (kind === 0) return Buffer.from(random.bytes(random.int(600)));
  if (kind === 1) return promises(random);
  const bytes = goodQuery(random);
  if (kind === 2) return bytes.subarray(0, random.int(bytes.length));
  for (let n = random.int(6); n >= 0; n--) bytes[random.int(bytes.length)] = random.int(256);
  return bytes;
}

describe('packets that nobody should send', () => {
  let resolver: Resolver;
  beforeAll(() => {
    const index = new ServiceIndex();
    index.putNamespace({ metadata: { name: 'default' } } as core.Namespace);
    const spec = { clusterIP: '10.96.0.77', clusterIPs: ['10.96.0.77'], ports: [{ name: 'http', port: 80 }] };
    index.putService({ metadata: { name: 'web', namespace: 'default' }, spec } as core.Service);
    const metrics = new DnsMetrics(new MetricsRegistry(), 53);
    const deps = { clock: realClock, random: seededRandom(1), logger: silentLogger, metrics };
    resolver = new Resolver({
      ...{ ...deps, index, zone: new ClusterZone({ domain: 'cluster.local', ttlSeconds: 30, serverIps: ['10.96.0.10'] }, index) },
      forwarder: new Forwarder(deps),
      ...{ config: () => NO_CONFIG, upstream: () => [], isSynced: () => true, loopProbe: 'loop', onLoop: () => {} },
    });
  });

  it(`are answered with their id or ignored: ${PACKETS} of them, seed ${SEED}`, async () => {
    const random = seededRandom(SEED);
    let answered = 0;
    const check = (sent: Buffer, reply: Buffer | undefined) => {
      if (reply === undefined) return;
      answered++;
      const isReply = reply.readUInt16BE(0) === sent.readUInt16BE(0) && (reply[2]! & 0x80) !== 0;
      if (!isReply || reply.length > MAX_UDP_BYTES) throw new Error(`a wrong reply to ${sent.toString('hex')}: ${reply.toString('hex')}`);
      try {
        packet.decode(reply);
      } catch (cause) {
        throw new Error(`an unreadable reply to ${sent.toString('hex')}: ${reply.toString('hex')}`, { cause });
      }
    };
    for (let i = 0; i < PACKETS; i++) {
      const sent = hostilePacket(random);
      const reply = resolver.resolve(sent, 'udp', '10.1.2.3');
      check(sent, isPromise(reply) ? await reply : reply);
    }
    expect(answered).toBeGreaterThan(PACKETS / 10);
    const good = await resolver.resolve(
      packet.encode({ type: 'query', id: 1, questions: [{ type: 'A', name: NAMES[0]! }] }),
      'udp',
      '10.1.2.3',
    );
    expect(packet.decode(good!).answers).toMatchObject([{ type: 'A', data: '10.96.0.77' }]);
  }, 600_000);

  it('with lists of records are refused without expanding the names in them', async () => {
    for (const [countAt, count] of [
      [6, 1],
      [8, 2],
      [10, 3],
    ] as const) {
      const sent = Buffer.concat([goodQuery(seededRandom(1)), Buffer.alloc(60_000)]);
      sent.writeUInt16BE(count, countAt);
      const reply = await resolver.resolve(sent, 'tcp', '10.1.2.3');
      expect(packet.decode(reply!)).toMatchObject({ rcode: 'FORMERR' });
    }
  });
});
