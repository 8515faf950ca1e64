import { once } from 'node:events';
import tls from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../logging/logger.ts';
import { listenOn } from '../net/listen-on.ts';
import { systemRandom } from '../random.ts';
import { realClock } from '../time/clock.ts';
import type { SniCertificate } from './sni-certificates.ts';
import { createTlsPort } from './tls-port.ts';
import { createSelfSigned } from './x509/index.ts';

const pair = (commonName: string, dnsNames: readonly string[] = []) =>
  createSelfSigned(
    { commonName, authorityName: `${commonName}-ca`, dnsNames, ipAddresses: ['127.0.0.1'] },
    { clock: realClock, random: systemRandom },
  );
const own = pair('default', ['own.example.com']);
const named = (commonName: string, names: readonly string[], dnsNames: readonly string[] = []): SniCertificate => ({
  ...pair(commonName, dnsNames),
  names,
});

/** The common name of the certificate that a client sees which connects to 127.0.0.1. */
async function shownTo(servername: string, certificates: readonly SniCertificate[], host = '127.0.0.1'): Promise<string> {
  const onConnection = (socket: tls.TLSSocket) => void socket.on('error', () => {}).end();
  const { listener } = createTlsPort({ ...own, sniCertificates: () => certificates }, { onConnection });
  onTestFinished(() => void listener.close());
  await listenOn(listener, { host, port: 0 }, silentLogger);
  const { port } = listener.address() as { port: number };
  // errors: fail the test
  const socket = tls.connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return CN as string;
}

const A = named('a', ['a.example.com', '*.wild.example.com']);
const B = named('b.example.com', [], ['b.example.org', '*.b.example.org']);
it.each<[string, string, readonly SniCertificate[], string]>([
  ['an explicit name', 'a.example.com', [A, B], 'a'],
  ['a name in another case', 'A.Example.COM', [A, B], 'a'],
  ['a wildcard for one label', 'x.wild.example.com', [A, B], 'a'],
  ['two labels before a wildcard', 'x.y.wild.example.com', [A, B], 'default'],
  ['the bare domain of a wildcard', 'wild.example.com', [A, B], 'default'],
  ['the common name of a certificate without patterns', 'b.example.com', [A, B], 'b.example.com'],
  ['an alternative name of a certificate without patterns', 'b.example.org', [A, B], 'b.example.com'],
  ['a wildcard in a certificate without patterns', 'x.b.example.org', [A, B], 'b.example.com'],
  ['a name in a certificate that has other patterns', 'c.example.com', [named('c', ['other.example.com'], ['c.example.com'])], 'default'],
  ['a name of nobody', 'nobody.example.com', [A, B], 'default'],
  ['no name', '', [A, B], 'default'],
  ['a name in two certificates', 'b.example.com', [B, named('later', [], ['b.example.com'])], 'b.example.com'],
  ['a derived name that a later certificate has as a pattern', 'b.example.com', [B, named('later', ['b.example.com'])], 'later'],
  [
    'a name before a wildcard that comes first',
    'x.example.com',
    [named('wild', ['*.example.com']), named('exact', ['x.example.com'])],
    'exact',
  ],
])('%s gets its certificate', async (_what, servername, certificates, expected) => {
  expect(await shownTo(servername, certificates)).toBe(expected);
});

const ADDRESS = named('address', ['127.0.0.1', 'a.example.com']);
it.each<[string, string, readonly SniCertificate[], string]>([
  ['no name and an address among the patterns', '', [ADDRESS], 'address'],
  ['no name and an address in two certificates', '', [ADDRESS, named('later', ['127.0.0.1'])], 'address'],
  ['no name and the address of another pattern', '', [named('other', ['192.0.2.1'])], 'default'],
  ['no name and an address in a certificate without patterns', '', [named('other', [])], 'default'],
  ['a name, whatever the address', 'a.example.com', [named('named', ['a.example.com']), ADDRESS], 'named'],
  ['a name of nobody, whatever the address', 'nobody.example.com', [ADDRESS], 'default'],
])('a client with %s gets its certificate', async (_what, servername, certificates, expected) => {
  expect(await shownTo(servername, certificates)).toBe(expected);
  expect(await shownTo(servername, certificates, '::')).toBe(expected);
});
