import { readFile, writeFile } from 'node:fs/promises';
import { ProgramError, runProgram } from '../process/run-program.ts';

/** One command of `ip`, `tc` or `bridge`, without the program's name. */
export type NetworkCommand = readonly string[];

export interface BatchOptions {
  /** The path of the network namespace. Default: that of the machine. */
  readonly netns?: string | undefined;
  /** Continues after failed commands, without reporting them. */
  readonly force?: boolean;
}

/**
 * The kernel's network configuration: the network namespace of this process, or another one by its path. Commands run in batches, one process each.
 */
export class KernelNetwork {
  constructor(readonly netns?: string) {}

  ip(commands: readonly NetworkCommand[], options: BatchOptions = {}): Promise<void> {
    return this.#batch('ip', commands, options);
  }

  tc(commands: readonly NetworkCommand[], options: BatchOptions = {}): Promise<void> {
    return this.#batch('tc', commands, options);
  }

  bridge(commands: readonly NetworkCommand[], options: BatchOptions = {}): Promise<void> {
    return this.#batch('bridge', commands, options);
  }

  /** What `ip -json` prints. */
  async ipJson(args: readonly string[], netns = this.netns): Promise<unknown> {
    const text = await this.run('ip', ['-json', ...args], { netns });
    return text.trim() === '' ? [] : JSON.parse(text);
  }

  /** Applies a script as one transaction: all of it or nothing. */
  async nft(script: string): Promise<void> {
    await this.run('nft', ['-f', '-'], { input: script });
  }

  /** What `nft -j` prints. */
  async nftJson(args: readonly string[]): Promise<{ readonly nftables: readonly Readonly<Record<string, unknown>>[] }> {
    return JSON.parse(await this.run('nft', ['-j', ...args]));
  }

  async sysctl(settings: Readonly<Record<string, string>>): Promise<void> {
    if (this.netns !== undefined) {
      await this.run('sysctl', ['-qw', ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)]);
      return;
    }
    for (const [name, value] of Object.entries(settings)) await writeFile(`/proc/sys/${name.replaceAll('.', '/')}`, value);
  }

  async readSysctl(name: string): Promise<string> {
    if (this.netns !== undefined) return (await this.run('sysctl', ['-n', name])).trim();
    return (await readFile(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8')).trim();
  }

  run(program: string, args: readonly string[], options: { input?: string; netns?: string | undefined } = {}): Promise<string> {
    const { netns = this.netns, ...rest } = options;
    if (netns === undefined) return runProgram(program, args, rest);
    return runProgram('nsenter', [`--net=${netns}`, '--', program, ...args], rest);
  }

  async #batch(program: string, commands: readonly NetworkCommand[], { netns = this.netns, force = false }: BatchOptions): Promise<void> {
    if (commands.length === 0) return;
    const input = `${commands.map((command) => command.map(word).join(' ')).join('\n')}\n`;
    try {
      await this.run(program, [...(force ? ['-force'] : []), '-batch', '-'], { input, netns });
    } catch (error) {
      if (!force || !(error instanceof ProgramError) || error.exitCode === undefined) throw error;
    }
  }
}

const WORD = /^[\w.:/@,+%=-]+$/;

/** Batches are split at white space and support quotes and comments: words that contain these would inject commands. */
function word(text: string): string {
  if (!WORD.test(text)) throw new TypeError(`${JSON.stringify(text)} cannot be a word of a network command`);
  return text;
}
