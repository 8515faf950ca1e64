import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createLogger, createSelfSigned, type LoggerOptions, realClock, silentLogger, systemRandom, VirtualClock } from '#base';

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const clock = new VirtualClock({ startMs: Date.UTC(2026, 3, 1, 12, 30, 15, 123) });
  return { lines, logger: createLogger({ clock, write: (line) => lines.push(line), ...options }) };
}

describe('a logger', () => {
  test('writes one JSON object a line, with the fields of its parents', () => {
    const { lines, logger } = capture();
    logger.child({ component: 'apiserver' }).child({ request: 7 }).info('served', { code: 200, level: 'spoofed' });
    expect(JSON.parse(lines[0] as string)).toEqual({
      time: '2026-04-01T12:30:15.123Z',
      level: 'info',
      message: 'served',
      component: 'apiserver',
      request: 7,
      code: 200,
    });
  });

  test('writes a line for people', () => {
    const { lines, logger } = capture({ format: 'human' });
    logger.child({ component: 'store' }).warn('slow commit', { ms: 12, path: '/a b', tags: ['x'] });
    expect(lines).toEqual(['12:30:15.123 WARN  store: slow commit ms=12 path="/a b" tags=["x"]']);
  });

  test('colours only when told', () => {
    const plain = capture({ format: 'human' });
    plain.logger.error('x');
    const coloured = capture({ format: 'human', color: true });
    coloured.logger.error('x');
    expect(plain.lines[0]).not.toContain('\u001b[');
    expect(coloured.lines[0]).toContain('\u001b[31mERROR');
  });

  test.each([
    ['trace', ['trace', 'debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['error', ['error']],
    ['silent', []],
  ] as const)('at level %s writes %j', (level, expected) => {
    const { lines, logger } = capture({ level });
    for (const name of ['trace', 'debug', 'info', 'warn', 'error'] as const) logger[name]('x');
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(expected);
    expect(logger.enabled('error')).toBe(level !== 'silent');
  });

  test('writes errors with their causes', () => {
    const error = new Error('cannot start', { cause: new Error('port in use') });
    const json = capture();
    json.logger.error('failed', { error });
    expect(JSON.parse(json.lines[0] as string).error).toMatchObject({
      name: 'Error',
      message: 'cannot start',
      cause: { message: 'port in use' },
    });
    const human = capture({ format: 'human' });
    human.logger.error('failed', { error });
    expect(human.lines[0]).toMatch(/^12:30:15.123 ERROR failed error="cannot start: port in use"\nError: cannot start\n {4}at /);
  });

  test('cuts long texts, lists and objects', () => {
    const { logger, lines } = capture();
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    logger.info('x', {
      text: 'a'.repeat(1_000_000),
      list: Array.from({ length: 100_000 }, () => 'item'),
      wide,
      error: new Error('b'.repeat(1_000_000)),
    });
    expect(lines[0]!.length).toBeLessThan(80_000);
    expect(lines[0]).toContain('(1000000 characters)');
    expect(lines[0]).toContain('(100000 items)');
  });

  test('shows a certificate of an error by its names, not by its bytes and its issuers', () => {
    const { lines, logger } = capture();
    const names = { commonName: 'server', authorityName: 'authority', dnsNames: ['server.example'], ipAddresses: [] };
    const { cert } = createSelfSigned(names, { clock: realClock, random: systemRandom });
    const leaf = { ...new X509Certificate(cert).toLegacyObject(), issuerCertificate: { raw: new Uint8Array(9), issuerCertificate: {} } };
    logger.warn('cannot connect', { error: Object.assign(new Error('does not match'), { cert: leaf }) });
    const { subject, subjectaltname, valid_from, valid_to, fingerprint256 } = leaf;
    expect(JSON.parse(lines[0] as string).error.cert).toEqual({
      subject: { ...subject },
      subjectaltname,
      valid_from,
      valid_to,
      fingerprint256,
    });
  });

  test('lets no field or error steer the terminal', () => {
    const { lines, logger } = capture({ format: 'human' });
    logger.info('x', { agent: '\u001b[2Jgone', error: new Error('\u001b[2Jgone') });
    expect(lines.join('')).not.toContain('\u001b');
  });

  test('never fails on what it is given', () => {
    const { lines, logger } = capture();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    logger.info('odd', {
      circle,
      big: 1n,
      fn: () => {},
      bytes: new Uint8Array(3),
      map: new Map([['k', 1]]),
      set: new Set([1]),
      none: undefined,
    });
    expect(JSON.parse(lines[0] as string)).toMatchObject({ big: '1', bytes: '[3 bytes]', map: { k: 1 }, set: [1] });
  });

  test('that is silent writes nothing', () => {
    silentLogger.child({ a: 1 }).error('x');
    expect(silentLogger.enabled('error')).toBe(false);
  });
});

describe('secrets in a log', () => {
  const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln';
  const pem = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----';
  const cases: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['a password', { password: 'hunter2' }, { password: '[redacted]' }],
    ['a header deep inside', { headers: [{ Authorization: 'Bearer abcdefgh' }] }, { headers: [{ Authorization: '[redacted]' }] }],
    ['names with separators', { 'client-key-data': 'x', api_key: 'y' }, { 'client-key-data': '[redacted]', api_key: '[redacted]' }],
    ['a bearer token inside text', { note: 'sent Bearer abcdef.ghi to a' }, { note: 'sent Bearer [redacted] to a' }],
    ['a JWT inside text', { note: `got ${jwt}!` }, { note: 'got [redacted]!' }],
    ['a private key inside text', { note: `key: ${pem}.` }, { note: 'key: [redacted].' }],
    ['a password in an address', { url: 'https://me:pw@host/x' }, { url: 'https://me:[redacted]@host/x' }],
    [
      'the data of a Secret',
      { obj: { kind: 'Secret', type: 'Opaque', data: { a: 'b' } } },
      { obj: { kind: 'Secret', type: 'Opaque', data: '[redacted]' } },
    ],
    ['but not a name of a secret', { secretName: 'db', tokenExpirationSeconds: 3600 }, { secretName: 'db', tokenExpirationSeconds: 3600 }],
    ['but not the data of others', { obj: { kind: 'ConfigMap', data: { a: 'b' } } }, { obj: { kind: 'ConfigMap', data: { a: 'b' } } }],
    ['names that were asked for', { pin: 1234 }, { pin: '[redacted]' }],
  ];
  test.each(cases)('%s', (_name, fields, expected) => {
    const { lines, logger } = capture({ redact: ['PIN'] });
    const before = structuredClone(fields);
    logger.info('x', fields);
    expect(JSON.parse(lines[0] as string)).toMatchObject(expected);
    expect(fields).toEqual(before);
  });

  test('are kept out of the message, of bound fields and of errors too', () => {
    const { lines, logger } = capture();
    logger.child({ token: 'abc123' }).error(`refused ${jwt}`, { error: new Error(`bad token ${jwt}`) });
    expect(lines[0]).not.toContain(jwt);
    expect(lines[0]).not.toContain('abc123');
  });
});

test('the human format has dates where they are asked for', () => {
  const lines: string[] = [];
  const clock = new VirtualClock({ startMs: Date.UTC(2026, 0, 2, 3, 4, 5) });
  createLogger({ clock, format: 'human', dates: true, write: (line) => lines.push(line) }).info('hello');
  expect(lines).toEqual(['2026-01-02T03:04:05.000Z INFO  hello']);
});
