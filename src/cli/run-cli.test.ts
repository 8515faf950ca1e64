import { describe, expect, test } from 'vitest';
import type { CommandEntry } from './command-entry.ts';
import type { OutputStream } from './context.ts';
import { interruptionOf } from './interruption.ts';
import { runCli } from './run-cli.ts';
import { UsageError } from './usage-error.ts';

interface Terminal {
  tty?: boolean;
  env?: Record<string, string>;
  commands?: CommandEntry[];
}

const quiet = interruptionOf({ on: () => process }, () => {});

async function run(argv: string[], { tty = false, env = {}, commands }: Terminal = {}) {
  const text = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr'): OutputStream => ({ isTTY: tty, write: (part) => (text[name] += part) });
  const io = { argv, env, cwd: '/', stdout: stream('stdout'), stderr: stream('stderr'), interruption: quiet };
  return { code: await runCli(io, commands), ...text };
}

const command = (name: string, action: () => Promise<void> | void): CommandEntry => ({
  name,
  group: 'tools',
  summary: `Do ${name}`,
  load: async () => (self) => void self.action(action),
});

describe('help', () => {
  test.each([[[]], [['--help']], [['-h']], [['help']]])('%j shows the commands by groups, before the options', async (argv) => {
    const { code, stdout, stderr } = await run(argv);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: sampan <command> \[options\]\n\nKubernetes written[\s\S]*\nTools:\n {2}completion[\s\S]*\nOptions:\n/);
  });

  test('loads no command to list them all, and only the one that it explains', async () => {
    const loaded: string[] = [];
    const entry = (name: string): CommandEntry => ({
      ...command(name, () => {}),
      load: async () => {
        loaded.push(name);
        return (self) => void self.option('--only-here');
      },
    });
    const commands = [entry('first'), entry('second')];
    expect((await run(['--help'], { commands })).stdout).toContain('Do first');
    expect(loaded).toEqual([]);
    for (const argv of [
      ['help', 'second'],
      ['second', '--help'],
      ['--verbose', 'second', '-h'],
    ]) {
      expect((await run(argv, { commands })).stdout).toContain('--only-here');
    }
    expect(loaded).toEqual(['second', 'second', 'second']);
  });
});

describe('bad usage', () => {
  const cases: [string[], string][] = [
    [['verison'], "error: unknown command 'verison'\nhint: did you mean version? Otherwise see 'sampan --help'\n"],
    [['frobnicate'], "error: unknown command 'frobnicate'\nhint: see 'sampan --help'\n"],
    [['--versoin'], "error: unknown option '--versoin'\nhint: did you mean --version? Otherwise see 'sampan --help'\n"],
    [
      ['version', '--ouptut', 'json'],
      "error: unknown option '--ouptut'\nhint: did you mean --output? Otherwise see 'sampan version --help'\n",
    ],
    [
      ['version', '-o', 'xml'],
      "error: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are text, json.\nhint: see 'sampan version --help'\n",
    ],
    [['version', 'extra'], "error: too many arguments for 'version'. Expected 0 arguments but got 1.\nhint: see 'sampan version --help'\n"],
    [['completion'], "error: missing required argument 'shell'\nhint: see 'sampan completion --help'\n"],
  ];
  test.each(cases)('%j is explained with a hint, and exits with 2', async (argv, message) => {
    expect(await run(argv)).toEqual({ code: 2, stdout: '', stderr: message });
  });

  test('that a command finds itself is told the same way', async () => {
    const commands = [
      command('up', () => {
        throw new UsageError("--nodes must be at least 1, not '0'", 'leave it out for one node');
      }),
    ];
    const { code, stderr } = await run(['up'], { commands });
    expect([code, stderr]).toEqual([2, "error: --nodes must be at least 1, not '0'\nhint: leave it out for one node\n"]);
  });
});

describe('a failure', () => {
  const commands = [command('up', () => Promise.reject(new Error('cannot start', { cause: new Error('port 6443 is in use') })))];

  test('is told in one line with its cause, and exits with 1', async () => {
    expect(await run(['up'], { commands })).toEqual({ code: 1, stdout: '', stderr: 'error: cannot start: port 6443 is in use\n' });
  });

  test('says a cause once that its message quotes', async () => {
    const quoting = [command('up', () => Promise.reject(new Error('cannot start: busy', { cause: new Error('busy') })))];
    expect((await run(['up'], { commands: quoting })).stderr).toBe('error: cannot start: busy\n');
  });

  test('shows its stack trace when asked', async () => {
    for (const argv of [
      ['--verbose', 'up'],
      ['up', '--verbose'],
    ]) {
      expect((await run(argv, { commands })).stderr).toMatch(/^error: cannot start.*\nError: cannot start\n {4}at /);
    }
  });
});

describe('colours', () => {
  test('are for terminals only, and can be declined', async () => {
    expect((await run(['frob'])).stderr).not.toContain('\u001b[');
    expect((await run(['frob'], { tty: true })).stderr).toContain('\u001b[31merror:');
    expect((await run(['--help'], { tty: true })).stdout).toContain('\u001b[1mTools:');
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      expect((await run(['frob'], { tty: true, env })).stderr).not.toContain('\u001b[');
    }
    expect((await run(['--no-color', '--help'], { tty: true })).stdout).not.toContain('\u001b[');
  });
});

describe('version', () => {
  test('is one line as an option', async () => {
    expect((await run(['--version'])).stdout).toMatch(/^sampan \d+\.\d+\.\d+\n$/);
  });

  test('is text for people, and JSON for programs', async () => {
    expect((await run(['version'])).stdout).toMatch(/^sampan {6}\d+\.\d+\.\d+\nkubernetes {2}v1\.36\nnode {8}v\d+/);
    expect(JSON.parse((await run(['version', '--output', 'json'])).stdout)).toMatchObject({ kubernetes: 'v1.36', node: process.version });
  });
});

describe('a signal', () => {
  test('aborts the command, which then exits as shells have it; a second one ends the process', async () => {
    const handlers = new Map<string, (name: NodeJS.Signals) => void>();
    const exits: number[] = [];
    const on = (name: string, handler: (name: NodeJS.Signals) => void) => handlers.set(name, handler) && process;
    const interruption = interruptionOf({ on: on as NodeJS.Process['on'] }, (code) => exits.push(code));
    const commands: CommandEntry[] = [
      {
        ...command('up', () => {}),
        load: async () => (self, context) =>
          void self.action(() => new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)))),
      },
    ];
    const write = () => true;
    const running = runCli({ argv: ['up'], env: {}, cwd: '/', stdout: { write }, stderr: { write }, interruption }, commands);
    await expect.poll(() => [...handlers.keys()]).toEqual(['SIGINT', 'SIGTERM', 'SIGHUP']);
    handlers.get('SIGTERM')?.('SIGTERM');
    expect(await running).toBe(143);
    expect(exits).toEqual([]);
    handlers.get('SIGINT')?.('SIGINT');
    expect(exits).toEqual([143]);
  });
});
