import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { seededRandom, VirtualClock } from '#base';
import type { LogEntry } from '../../logs/container-logs.ts';
import { contractContainer, contractSandbox } from '../contract.ts';
import type { AttachRequest, ContainerConfig } from '../runtime.ts';
import { SimulatedRuntime } from './simulated-runtime.ts';

async function start(command: readonly string[], overrides: Partial<ContainerConfig> = {}) {
  const clock = new VirtualClock();
  const runtime = new SimulatedRuntime({}, { clock, random: seededRandom(1) });
  const sandboxConfig = contractSandbox('u');
  const sandboxId = await runtime.runPodSandbox(sandboxConfig);
  const image = await runtime.pullImage({ image: 'app:1' }, { sandboxConfig });
  const config = { ...contractContainer('u', { image, command }), stdin: true, stdinOnce: true, ...overrides };
  const id = await runtime.createContainer(sandboxId, { config, sandboxConfig });
  await runtime.startContainer(id);
  const attach = (request: Partial<AttachRequest> = {}) =>
    runtime.attach({ containerId: id, stdin: true, stdout: true, stderr: false, tty: overrides.tty ?? false, ...request });
  return { clock, runtime, id, attach, status: () => runtime.containerStatus(id) };
}

async function textOf(stream: Readable | undefined): Promise<string> {
  return Buffer.concat(await stream!.toArray()).toString();
}

async function contentsOf(log: AsyncIterable<LogEntry>): Promise<readonly string[]> {
  const contents: string[] = [];
  for await (const { content } of log) contents.push(content.toString());
  return contents;
}

describe('a container that keeps its input open', () => {
  it.each([
    ['the command reads it', ['cat'], 'one\ntwo\n', 'one\ntwo\n', 0],
    ['a shell runs its lines', ['sh'], 'echo a; echo b\nexit 3\necho c\n', 'a\nb\n', 3],
    ['the image alone is given: a shell', [], 'hostname', 'pod-u\n', 0],
    ['the command is not known: it gives it back', ['/bin/convert'], 'one\n', 'one\n', 0],
  ])('ends with its input when %s', async (_name, command, input, output, exitCode) => {
    const { attach, status } = await start(command);
    const { stdin, stdout, exit } = await attach();
    stdin!.end(input);
    expect(await textOf(stdout)).toBe(output);
    expect(await exit).toEqual({ exitCode: 0 });
    expect(await status()).toMatchObject({ state: 'exited', exitCode });
  });

  it('ends when the only client that brings input leaves', async () => {
    const { attach, status } = await start(['cat']);
    const { stdin, exit } = await attach();
    stdin!.destroy();
    await exit;
    expect(await status()).toMatchObject({ state: 'exited', exitCode: 0 });
  });

  it('takes the input of one client after another when it is not for one alone', async () => {
    const { attach, status } = await start(['cat'], { stdinOnce: false });
    const watcher = await attach({ stdin: false });
    for (const text of ['one\n', 'two\n']) {
      const { stdin } = await attach();
      stdin!.end(text);
      await expect.poll(() => watcher.stdout!.read()?.toString()).toBe(text);
    }
    expect(await status()).toMatchObject({ state: 'running' });
  });

  it('lets a client go whose input has ended, and goes on, when it is not for one alone', async () => {
    const { attach, status } = await start(['cat'], { stdinOnce: false });
    const { stdin, exit } = await attach();
    stdin!.end('one\n');
    expect(await exit).toEqual({ exitCode: 0 });
    expect(await status()).toMatchObject({ state: 'running' });
  });

  it('logs its output, also to followers', async () => {
    const { attach, runtime, id } = await start(['sh']);
    const following = contentsOf(runtime.containerLog(id, { follow: true }));
    const { stdin, exit } = await attach();
    stdin!.end('echo a\necho b\n');
    await exit;
    expect(await following).toEqual(['a\n', 'b\n']);
    expect(await contentsOf(runtime.containerLog(id))).toEqual(['a\n', 'b\n']);
  });

  it('is stopped like any other', async () => {
    const { runtime, id, status, attach } = await start(['sh']);
    const { exit } = await attach();
    await runtime.stopContainer(id, 0);
    expect(await exit).toEqual({ exitCode: 0 });
    expect(await status()).toMatchObject({ state: 'exited', exitCode: 0 });
  });
});

describe('a terminal', () => {
  const CASES: readonly (readonly [string, string, string])[] = [
    ['shows what is typed and ends lines for a screen', 'echo hi\rexit\r', '/ # echo hi\r\nhi\r\n/ # exit\r\n'],
    ['lets the last character be taken back', 'echo aä\x7fc\rexit\r', '/ # echo aä\b \bc\r\nac\r\n/ # exit\r\n'],
    ['lets the line be taken back', 'no\x15exit\r', '/ # no\b \b\b \bexit\r\n'],
    ['ends the input at Ctrl-D', '\x04', '/ # '],
    ['drops the line at Ctrl-C', 'no\x03exit\r', '/ # no^C\r\n/ # exit\r\n'],
  ];
  it.each(CASES)('%s', async (_name, keys, screen) => {
    const { attach } = await start(['sh'], { tty: true });
    const { stdin, stdout } = await attach();
    const output = textOf(stdout);
    for (const key of keys) {
      stdin!.write(key);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await output).toBe(screen);
  });

  it('interrupts the command and not its shell at Ctrl-C', async () => {
    const { attach } = await start(['sh'], { tty: true });
    const { stdin, stdout } = await attach();
    let output = '';
    stdout!.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    stdin!.write('sleep 1000\r');
    await expect.poll(() => output).toContain('sleep 1000\r\n');
    stdin!.write('\x03');
    await expect.poll(() => output).toContain('^C\r\n/ # ');
    stdin!.write('stty size\r');
    await expect.poll(() => output).toContain('24 80\r\n/ # ');
  });
});
