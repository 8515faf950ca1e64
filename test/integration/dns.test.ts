import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import packet, { type Answer, type DecodedPacket, type RecordType } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { core, discovery } from '#api';
import { createLogger, MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { type DnsServer, startDns } from '#dns';
import { startCluster, type TestCluster } from '#testing';

const HEALTH = { healthBindAddress: '127.0.0.1:0', readyBindAddress: '127.0.0.1:0', metricsBindAddress: '127.0.0.1:0' };
let cluster: TestCluster;
let server: DnsServer;
const upstreamSocket = createSocket('udp4');
let upstreamQueries = 0;
let isUpstreamSilent = false;
const metrics = new MetricsRegistry();

beforeAll(async () => {
  upstreamSocket.on('message', (bytes, { port, address }) => {
    const { id = 0, questions = [] } = packet.decode(bytes);
    if (questions[0]?.name.endsWith('sampan-loop-probe')) return;
    upstreamQueries++;
    if (isUpstreamSilent) return;
    const answers: Answer[] = [{ type: 'A', name: questions[0]!.name, ttl: 1, data: '192.0.2.1' }];
    upstreamSocket.send(packet.encode({ type: 'response', id, flags: 0x180, questions, answers }), port, address);
  });
  upstreamSocket.bind(0, '127.0.0.1');
  await once(upstreamSocket, 'listening');
  cluster = await startCluster({ nodes: 0 });
  const client = cluster.client;
  await client.of(core.Service).create({
    metadata: { name: 'web', namespace: 'default' },
    spec: { clusterIP: '10.96.0.77', ports: [{ name: 'http', port: 80 }] },
  } as never);
  for (const name of ['some', 'many']) {
    await client.of(core.Service).create({
      metadata: { name, namespace: 'default' },
      spec: { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] },
    } as never);
  }
  await client.of(core.Service).create({
    metadata: { name: 'out', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'elsewhere.example' },
  } as never);
  for (const [name, length] of [
    ['some', 20],
    ['many', 100],
  ] as const) {
    await client.of(discovery.EndpointSlice).create({
      metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      endpoints: Array.from({ length }, (_, i) => ({ addresses: [`10.244.1.${i + 1}`], conditions: { ready: true } })),
    } as never);
  }
  server = startDns(
    { ...HEALTH, listen: ['127.0.0.1'], port: 0, serviceIps: ['10.96.0.10'], upstream: [`127.0.0.1:${upstreamSocket.address().port}`] },
    { client, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics },
  );
  await server.ready;
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  upstreamSocket.close();
});

const queryFor = (name: string, type: RecordType, additionals: Answer[] = []) =>
  packet.encode({ type: 'query', id: 4711, flags: packet.RECURSION_DESIRED, questions: [{ type, name, class: 'IN' }], additionals });

async function exchange(bytes: Buffer, port = server.port): Promise<Buffer> {
  const socket = createSocket('udp4');
  const send = () => socket.send(bytes, port, '127.0.0.1');
  // Like every stub resolver: a full socket buffer drops packets.
  const again = setInterval(send, 500);
  try {
    send();
    const [reply] = (await once(socket, 'message')) as [Buffer];
    return reply;
  } finally {
    clearInterval(again);
    socket.close();
  }
}

async function exchangeTcp(bytes: Buffer): Promise<Buffer> {
  const socket = connect(server.port, '127.0.0.1');
  const head = Buffer.alloc(2);
  head.writeUInt16BE(bytes.length);
  socket.write(Buffer.concat([head, bytes]));
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) break;
  }
  socket.destroy();
  return received.subarray(2);
}

const addresses = ({ answers = [] }: DecodedPacket) => answers.flatMap((answer) => (answer.type === 'A' ? [answer.data] : []));

describe('cluster DNS over UDP', () => {
  test('answers for a service, with the case of letters of the question', async () => {
    const reply = packet.decode(await exchange(queryFor('WeB.default.svc.cluster.LOCAL', 'A')));
    expect(reply).toMatchObject({ id: 4711, rcode: 'NOERROR', flag_aa: true, flag_ra: true });
    expect(reply.questions?.[0]?.name).toBe('WeB.default.svc.cluster.LOCAL');
    expect(addresses(reply)).toEqual(['10.96.0.77']);
  });

  test('the same question again is answered with the new id, and anew after a change', async () => {
    const ask = async () => addresses(packet.decode(await exchange(queryFor('changing.default.svc.cluster.local', 'A'))));
    expect(await ask()).toEqual([]);
    const spec = { clusterIP: '10.96.0.78', ports: [{ port: 80 }] };
    await cluster.client.of(core.Service).create({ metadata: { name: 'changing', namespace: 'default' }, spec } as never);
    await expect.poll(ask).toEqual(['10.96.0.78']);
  });

  test('a name that does not exist is NXDOMAIN with the SOA of the zone', async () => {
    const reply = packet.decode(await exchange(queryFor('none.default.svc.cluster.local', 'A')));
    expect(reply).toMatchObject({ rcode: 'NXDOMAIN' });
    expect(reply.authorities?.[0]).toMatchObject({ type: 'SOA', name: 'cluster.local' });
  });

  test('an answer that is too long is truncated, and whole over TCP', async () => {
    const query = queryFor('many.default.svc.cluster.local', 'A');
    const short = packet.decode(await exchange(query));
    expect(short).toMatchObject({ flag_tc: true, answers: [] });
    expect(addresses(packet.decode(await exchangeTcp(query)))).toHaveLength(100);
  });

  test('a client that takes larger datagrams, by EDNS0, gets more in one, and is told so', async () => {
    const option: Answer = {
      type: 'OPT',
      name: '.',
      udpPayloadSize: 4096,
      extendedRcode: 0,
      ednsVersion: 0,
      flags: 0,
      flag_do: false,
      options: [],
    };
    const ask = async (name: string) => packet.decode(await exchange(queryFor(`${name}.default.svc.cluster.local`, 'A', [option])));
    const whole = await ask('some');
    expect(whole).toMatchObject({ flag_tc: false, additionals: [{ type: 'OPT' }] });
    expect(addresses(whole)).toHaveLength(20);
    // The largest size that passes every link without fragmentation.
    expect(await ask('many')).toMatchObject({ flag_tc: true, answers: [], additionals: [{ type: 'OPT', udpPayloadSize: 1232 }] });
  });

  test('a service with an external name brings what its target resolves to', async () => {
    const reply = packet.decode(await exchange(queryFor('out.default.svc.cluster.local', 'A')));
    expect(reply.answers?.map(({ type }) => type)).toEqual(['CNAME', 'A']);
  });
});

describe('other names', () => {
  test('are asked for elsewhere, once, and served stale while nobody answers', async () => {
    const query = queryFor('stale.example', 'A');
    const before = upstreamQueries;
    expect(addresses(packet.decode(await exchange(query)))).toEqual(['192.0.2.1']);
    expect(addresses(packet.decode(await exchange(query)))).toEqual(['192.0.2.1']);
    expect(upstreamQueries).toBe(before + 1);
    isUpstreamSilent = true;
    await realClock.sleep(1100);
    expect(addresses(packet.decode(await exchange(query)))).toEqual(['192.0.2.1']);
    isUpstreamSilent = false;
  });

  test('of the ConfigMap kube-dns are answered, and the map may change', async () => {
    const maps = cluster.client.of(core.ConfigMap);
    const metadata = { name: 'kube-dns', namespace: 'kube-system' };
    await maps.create({ metadata, data: { hosts: '10.9.9.9 intranet.example' } } as never);
    const ask = async () => addresses(packet.decode(await exchange(queryFor('intranet.example', 'A'))));
    await expect.poll(ask).toEqual(['10.9.9.9']);
    await maps.patch(metadata, { data: { hosts: '10.9.9.8 intranet.example' } });
    await expect.poll(ask).toEqual(['10.9.9.8']);
  });
});

describe('name servers', () => {
  /** A server that responds to every query with its own address. */
  async function nameServer(data: string): Promise<{ readonly address: string } & AsyncDisposable> {
    const socket = createSocket('udp4');
    socket.on('message', (bytes, { port, address }) => {
      const { id = 0, questions = [] } = packet.decode(bytes);
      const answers: Answer[] = [{ type: 'A', name: questions[0]!.name, ttl: 1, data }];
      socket.send(packet.encode({ type: 'response', id, flags: 0x180, questions, answers }), port, address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return {
      address: `127.0.0.1:${socket.address().port}`,
      [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())),
    };
  }

  test('of stub domains are asked for their names, others instead of those of the node, and both may change', async () => {
    await using stub = await nameServer('192.0.2.50');
    await using other = await nameServer('192.0.2.60');
    const key = { name: 'kube-dns', namespace: 'kube-system' };
    const set = (data: object) =>
      cluster.client.of(core.ConfigMap).apply({ metadata: key, data } as never, { fieldManager: 'test', force: true });
    const ask = async (name: string) => addresses(packet.decode(await exchange(queryFor(name, 'A'))));
    await set({ stubDomains: JSON.stringify({ 'corp.example': [stub.address] }) });
    await expect.poll(() => ask('a.b.corp.example')).toEqual(['192.0.2.50']);
    expect(await ask('notcorp.example')).toEqual(['192.0.2.1']);
    await set({ upstreamNameservers: JSON.stringify([other.address]) });
    await expect.poll(() => ask('c.corp.example')).toEqual(['192.0.2.60']);
    // Invalid entries do not affect the others.
    await set({ upstreamNameservers: 'not JSON', stubDomains: JSON.stringify({ 'corp.example': [stub.address] }) });
    await expect.poll(() => ask('d.corp.example')).toEqual(['192.0.2.50']);
    await set({});
    await expect.poll(() => ask('e.corp.example')).toEqual(['192.0.2.1']);
  });

  test('that forward to this one are found out, and no longer asked', async () => {
    const relay = createSocket('udp4');
    relay.bind(0, '127.0.0.1');
    await once(relay, 'listening');
    const lines: string[] = [];
    const logger = createLogger({ clock: realClock, level: 'error', write: (line) => void lines.push(line) });
    const config = { listen: ['127.0.0.1'], port: 0, upstream: [`127.0.0.1:${relay.address().port}`] };
    const looped = startDns(config, {
      client: cluster.client,
      clock: realClock,
      random: seededRandom(2),
      logger,
      metrics: new MetricsRegistry(),
    });
    relay.on('message', (bytes) => relay.send(bytes, looped.port, '127.0.0.1'));
    try {
      await looped.ready;
      await expect.poll(() => lines.join()).toContain('forward to cluster DNS');
      const reply = packet.decode(await exchange(queryFor('outside.example', 'A'), looped.port));
      expect(reply).toMatchObject({ rcode: 'SERVFAIL' });
      const inside = packet.decode(await exchange(queryFor('web.default.svc.cluster.local', 'A'), looped.port));
      expect(addresses(inside)).toEqual(['10.96.0.77']);
    } finally {
      await looped[Symbol.asyncDispose]();
      relay.close();
    }
  });
});

describe('bad input', () => {
  test('random messages and damaged queries are answered or ignored, and the server goes on', async () => {
    const random = seededRandom(7);
    const count = Number(process.env.DNS_FUZZ ?? 3_000);
    const socket = createSocket('udp4');
    socket.on('message', () => {});
    const good = queryFor('web.default.svc.cluster.local', 'A');
    for (let i = 0; i < count; i++) {
      const bytes = i % 2 === 0 ? Buffer.from(random.bytes(random.int(80))) : Buffer.from(good);
      if (i % 2 === 1) for (let n = random.int(6); n >= 0; n--) bytes[random.int(bytes.length)] = random.int(256);
      socket.send(bytes, server.port, '127.0.0.1');
      // Waits until the server has read everything sent so far.
      if (i % 50 === 0) await exchange(good);
    }
    expect(addresses(packet.decode(await exchange(good)))).toEqual(['10.96.0.77']);
    socket.close();
  });

  test.each([
    ['an answer', Buffer.from(packet.encode({ type: 'response', id: 1, questions: [] }))],
    ['three bytes', Buffer.from([1, 2, 3])],
  ])('%s gets no reply', async (_name, bytes) => {
    const socket = createSocket('udp4');
    let replies = 0;
    socket.on('message', () => replies++);
    socket.send(bytes, server.port, '127.0.0.1');
    await exchange(queryFor('web.default.svc.cluster.local', 'A'));
    socket.close();
    expect(replies).toBe(0);
  });

  test('a TCP client that promises more than it sends does not keep others waiting', async () => {
    const slow = connect(server.port, '127.0.0.1');
    slow.write(Buffer.from([0xff, 0xff, 0]));
    expect(addresses(packet.decode(await exchangeTcp(queryFor('web.default.svc.cluster.local', 'A'))))).toEqual(['10.96.0.77']);
    slow.destroy();
  });
});

test('/health, /ready and /metrics are answered by ports of their own', async () => {
  const get = async (name: string, path: string) => {
    const answer = await fetch(`http://127.0.0.1:${server.healthPorts[name]}${path}`);
    return `${answer.status} ${(await answer.text()).split('\n')[0]}`;
  };
  expect(await get('health', '/health')).toBe('200 OK');
  expect(await get('ready', '/ready')).toBe('200 OK');
  expect(await get('metrics', '/metrics')).toMatch(/^200 # HELP coredns_/);
  expect(await get('metrics', '/other')).toBe('404 404 page not found');
});

test('metrics carry upstream names', () => {
  const text = metrics.text();
  const server = 'server="dns://:0",zone=".",view=""';
  for (const series of [
    `coredns_dns_responses_total{${server},rcode="NXDOMAIN",plugin="kubernetes"}`,
    `coredns_dns_requests_total{${server},proto="udp",family="1",type="A"}`,
    `coredns_dns_request_duration_seconds_count{${server}}`,
    `coredns_dns_response_size_bytes_count{${server},proto="tcp"}`,
    'coredns_cache_misses_total{server="dns://:0",zones=".",view=""}',
    'coredns_cache_served_stale_total{server="dns://:0",zones=".",view=""}',
    `coredns_proxy_request_duration_seconds_count{proxy_name="forward",to="127.0.0.1:${upstreamSocket.address().port}",rcode="NOERROR"}`,
  ])
    expect(text).toMatch(new RegExp(`^${series.replace(/[{}".|/]/g, '\\$&')} [1-9]`, 'm'));
});
