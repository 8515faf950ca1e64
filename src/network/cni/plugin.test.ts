import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pluginText } from './install-plugin.ts';
import { PROGRAM_ARCHITECTURE, pluginProgram } from './plugin-program.ts';
import type { PluginSettings } from './run-plugin.ts';

const isProgramOurs = process.arch === PROGRAM_ARCHITECTURE && process.platform === 'linux';
const PLUGINS: (readonly [string, (settings: PluginSettings) => string | Buffer])[] = [
  ['a script of Node', (settings) => pluginText(settings, process.execPath)],
  ...(isProgramOurs ? [['a program', (settings: PluginSettings) => pluginProgram(settings)!] as const] : []),
];

describe.each(PLUGINS)('the CNI plugin as %s', (_name, make) => {
  let directory: string;
  let server: net.Server | undefined;
  const requests: string[] = [];
  beforeEach(() => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-cni-'));
    requests.length = 0;
  });
  afterEach(async () => {
    if (server) await new Promise((resolve) => server!.close(resolve));
    server = undefined;
    rmSync(directory, { recursive: true, force: true });
  });

  const socketPath = () => path.join(directory, 'agent.sock');
  /** An agent that gives these answers, one a connection; undefined closes the connection without one. */
  function agent(...answers: readonly (string | undefined)[]): Promise<void> {
    const left = [...answers];
    server = net.createServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        text += chunk;
      });
      const answer = left.shift();
      if (answer === undefined) socket.destroy();
      socket.on('end', () => {
        requests.push(text);
        socket.end(answer ?? '');
      });
    });
    return new Promise((resolve) => server!.listen(socketPath(), resolve));
  }

  function run(
    input: string,
    env: Readonly<Record<string, string>> = {},
    attempts = 100,
  ): Promise<{ code: number | null; output: string }> {
    const file = path.join(directory, 'plugin');
    writeFileSync(file, make({ socket: socketPath(), attempts, intervalMs: 20 }));
    chmodSync(file, 0o755);
    return new Promise((resolve, reject) => {
      const child = spawn(file, [], { env, stdio: ['pipe', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
      });
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, output }));
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
  }

  it('passes on its environment and its input, and prints the answer', async () => {
    await agent('0{"cniVersion":"1.0.0"}\n');
    expect(await run('{"name":"n"}', { CNI_COMMAND: 'ADD', CNI_ARGS: 'a=b;c=ü' })).toEqual({ code: 0, output: '{"cniVersion":"1.0.0"}' });
    const [variables, input] = requests[0]!.split('\0\0');
    expect(variables!.split('\0')).toEqual(expect.arrayContaining(['CNI_COMMAND=ADD', 'CNI_ARGS=a=b;c=ü']));
    expect(input).toBe('{"name":"n"}');
  });

  it('fails when the agent says so, and prints nothing where there is nothing to print', async () => {
    await agent('1{"code":11}\n', '0\n');
    expect(await run('')).toEqual({ code: 1, output: '{"code":11}' });
    expect(await run('')).toEqual({ code: 0, output: '' });
  });

  it('passes on input and answers of a megabyte', async () => {
    const large = 'x'.repeat(1_000_000);
    await agent(`0${large}\n`);
    expect(await run(large, { A: 'b' })).toEqual({ code: 0, output: large });
    expect(requests[0]!.length).toBe(large.length + 'A=b\0\0'.length);
  });

  it('asks again while the agent is away, goes away, or answers by half', async () => {
    const running = run('in', { A: 'b' });
    await agent(undefined, '0half', '', '0whole\n');
    expect(await running).toEqual({ code: 0, output: 'whole' });
    expect(requests.at(-1)).toBe('A=b\0\0in');
  });

  it('says so by an error of the specification when the agent stays away', async () => {
    const { code, output } = await run('{}', {}, 3);
    expect(code).toBe(1);
    expect(JSON.parse(output)).toMatchObject({ cniVersion: '1.0.0', code: 11, msg: 'the node agent does not answer' });
  });
});

it('a socket whose path is too long for an address has no program', () => {
  expect(pluginProgram({ socket: `/${'x'.repeat(107)}`, attempts: 1, intervalMs: 1 })).toBeUndefined();
});
