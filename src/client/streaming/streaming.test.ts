import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Duplex, PassThrough } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { duplexPair, realClock, VirtualClock } from '#base';
import { acceptCommand } from './accept-command.ts';
import { acceptPortForward } from './accept-port-forward.ts';
import { decodeOutcome, encodeOutcome } from './command-status.ts';
import { PortForwardClient } from './port-forward.ts';
import { relayCommand } from './relay-command.ts';
import type { RemoteCommand } from './remote-command.ts';
import { SPDY_COMMAND_PROTOCOLS, spdyCommand } from './spdy-command.ts';
import { UpgradeError } from './upgrade.ts';
import { WEBSOCKET_COMMAND_PROTOCOLS, webSocketCommand } from './websocket-command.ts';
import { webSocketTunnel } from './websocket-tunnel.ts';

const ALL = { stdin: true, stdout: true, stderr: true, tty: false };
const KEY = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };

type Kind = 'spdy' | 'websocket';

function headersFor(kind: Kind, protocol: string): (name: string) => string | undefined {
  const headers: Record<string, string> =
    kind === 'spdy'
      ? { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol }
      : { connection: 'Upgrade', upgrade: 'websocket', ...KEY, 'sec-websocket-protocol': protocol };
  return (name) => headers[name];
}

/** A process that copies its input to stdout, its length to stderr, and exits with a code at the end of its input. */
function echoProcess(exitCode: number): RemoteCommand & { sizes: string[] } {
  const stdin = new PassThrough();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let length = 0;
  stdin.on('data', (chunk: Buffer) => {
    length += chunk.length;
  });
  stdin.pipe(stdout);
  const exit = once(stdin, 'end').then(() => {
    stderr.end(String(length));
    return { exitCode };
  });
  const sizes: string[] = [];
  return { stdin, stdout, stderr, exit, sizes, resize: (width, height) => sizes.push(`${width}x${height}`) };
}

/** A server that runs `command`, and a client's connection to it. */
function connect(kind: Kind, protocol: string, command: RemoteCommand, options = ALL): RemoteCommand & { served: Promise<void> } {
  const { near, far } = duplexPair();
  const run = (session: Parameters<typeof relayCommand>[0]) => relayCommand(session, command, () => {});
  const upgrade = acceptCommand(headersFor(kind, protocol), { ...options, clock: realClock, run });
  const served = upgrade.serve(far);
  const open = kind === 'spdy' ? spdyCommand : webSocketCommand;
  return { ...open(near, { ...options, protocol, clock: realClock }), served };
}

const HALF_CLOSING: [Kind, string][] = [
  ['websocket', 'v5.channel.k8s.io'],
  ...SPDY_COMMAND_PROTOCOLS.map((protocol): [Kind, string] => ['spdy', protocol]),
];
const EVERY: [Kind, string][] = [
  ...HALF_CLOSING,
  ...WEBSOCKET_COMMAND_PROTOCOLS.slice(1).map((name): [Kind, string] => ['websocket', name]),
];

describe('a remote command', () => {
  it.each(HALF_CLOSING)('over %s %s gets input and gives output, to the last byte', async (kind, protocol) => {
    const input = randomBytes(2 << 20);
    const command = connect(kind, protocol, echoProcess(0));
    command.stdin!.end(input);
    const [stdout, stderr] = await Promise.all([buffer(command.stdout!), text(command.stderr!)]);
    expect(stdout.equals(input)).toBe(true);
    expect(stderr).toBe(String(input.length));
    expect(await command.exit).toEqual({ exitCode: 0 });
    await command.served;
  });

  it.each(EVERY)('over %s %s is answered while its input stays open', async (kind, protocol) => {
    const stdout = new PassThrough();
    let finish: (code: number) => void = () => {};
    const exit = new Promise<{ exitCode: number }>((resolve) => {
      finish = (exitCode) => resolve({ exitCode });
    });
    const stdin = new PassThrough();
    stdin.on('data', (chunk: Buffer) => {
      stdout.end(`got ${chunk}`);
      finish(3);
    });
    const options = { ...ALL, stderr: false };
    const command = connect(kind, protocol, { stdin, stdout, exit }, options);
    command.stdin!.write('hello');
    expect(await text(command.stdout!)).toBe('got hello');
    const outcome = await command.exit.catch((error: Error) => error.message);
    const hasCodes = /^v[45]\./.test(protocol);
    expect(outcome).toEqual(hasCodes ? { exitCode: 3 } : 'command terminated with non-zero exit code: exit status 3');
    await command.served;
  });

  it.each([
    ['spdy', 'v4.channel.k8s.io'],
    ['websocket', 'v5.channel.k8s.io'],
  ] as [Kind, string][])('over %s %s learns the size of the terminal', async (kind, protocol) => {
    const process = echoProcess(0);
    const command = connect(kind, protocol, process, { ...ALL, stderr: false, tty: true });
    command.resize!(80, 24);
    command.resize!(132, 50);
    command.stdin!.end('x');
    await text(command.stdout!);
    await command.served;
    expect(process.sizes).toEqual(['80x24', '132x50']);
  });

  it.each([
    ['spdy', 'v4.channel.k8s.io'],
    ['websocket', 'v5.channel.k8s.io'],
  ] as [Kind, string][])('over %s %s is given up when the client goes away', async (kind, protocol) => {
    const { near, far } = duplexPair();
    let isGivenUp = false;
    const process: RemoteCommand = { stdin: new PassThrough(), stdout: new PassThrough(), exit: new Promise(() => {}) };
    const options = { ...ALL, stderr: false };
    const giveUp = () => {
      isGivenUp = true;
    };
    const upgrade = acceptCommand(headersFor(kind, protocol), {
      ...options,
      clock: realClock,
      run: (session) => {
        void relayCommand(session, process, giveUp);
        return session.closed;
      },
    });
    const served = upgrade.serve(far);
    const open = kind === 'spdy' ? spdyCommand : webSocketCommand;
    const command = open(near, { ...options, protocol, clock: realClock });
    command.exit.catch(() => {});
    command.stdin!.write('x');
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    near.destroy();
    await served;
    expect(isGivenUp).toBe(true);
    expect(process.stdout!.destroyed).toBe(true);
  });

  it('is given up when the client does not answer any more', async () => {
    const clock = new VirtualClock();
    const { near, far } = duplexPair();
    near.on('error', () => {});
    const upgrade = acceptCommand(headersFor('websocket', 'v5.channel.k8s.io'), { ...ALL, clock, run: (session) => session.closed });
    const served = upgrade.serve(far);
    near.resume();
    await clock.advance(61_000);
    await served;
    expect(near.destroyed).toBe(true);
  });

  it('is refused with what the server can do when no protocol fits', () => {
    const header = headersFor('spdy', 'v9.channel.k8s.io');
    expect(() => acceptCommand(header, { ...ALL, clock: realClock, run: async () => {} })).toThrow(UpgradeError);
    expect(() => acceptCommand(() => undefined, { ...ALL, clock: realClock, run: async () => {} })).toThrow('Upgrade request required');
  });

  it('gives up on a client that does not open its streams', async () => {
    const clock = new VirtualClock();
    const { near, far } = duplexPair();
    near.resume();
    const upgrade = acceptCommand(headersFor('spdy', 'v4.channel.k8s.io'), { ...ALL, clock, run: async () => {} });
    const served = upgrade.serve(far);
    const failed = expect(served).rejects.toThrow('timed out waiting for client to create streams');
    await clock.advance(31_000);
    await failed;
    near.destroy();
  });
});

describe('the outcome of a command', () => {
  it.each([
    { type: 'exited', exitCode: 0 },
    { type: 'exited', exitCode: 137, message: 'killed' },
  ] as const)('%j is read as it was written', (outcome) => {
    expect(decodeOutcome(encodeOutcome(outcome), true)).toEqual(outcome);
  });

  it.each(['', '{', 'null', '[]', '{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":7}}'])(
    'of %j is a failure',
    (sent) => {
      expect(decodeOutcome(sent, true).type).toBe('failed');
    },
  );
});

function echoPort(): (port: number) => Promise<Duplex> {
  return async (port) => {
    // As with a runtime that responds after the connection was established.
    if (port === 82)
      return new PassThrough({
        read() {
          this.destroy(new Error('nothing listens in the pod'));
        },
      });
    if (port !== 80) throw new Error(`nothing listens on ${port}`);
    const { near, far } = duplexPair();
    far.pipe(far);
    return near;
  };
}

describe('a forwarded port', () => {
  it.each(['spdy', 'tunnel'])('carries many connections at once over %s', async (kind) => {
    const { near, far } = duplexPair();
    const header = kind === 'spdy' ? headersFor('spdy', 'portforward.k8s.io') : headersFor('websocket', 'SPDY/3.1+portforward.k8s.io');
    const served = acceptPortForward(header, { clock: realClock, dial: echoPort(), ports: [] }).serve(far);
    const client = new PortForwardClient(kind === 'spdy' ? near : webSocketTunnel(near, 'client'), realClock);
    const payloads = Array.from({ length: 20 }, () => randomBytes(200_000));
    const answers = payloads.map((payload) => {
      const connection = client.open(80);
      connection.end(payload);
      return buffer(connection);
    });
    for (const [i, answer] of answers.entries()) expect((await answer).equals(payloads[i]!)).toBe(true);
    const refused = client.open(81);
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toBe('nothing listens on 81');
    const [late] = (await once(client.open(82), 'error')) as [Error];
    expect(late.message).toBe('nothing listens in the pod');
    client.close();
    await served;
  });
});
