import { lookupTable } from '#base';
import type { ContainerConfig, SandboxConfig } from '../runtime.ts';
import type { ScriptedLine } from './script.ts';

/** The effect of a command, derived from its words. */
export interface CommandScript {
  readonly lines: readonly ScriptedLine[];
  readonly runTimeMs: number;
  readonly exitCode: number;
}

interface Progress {
  readonly lines: ScriptedLine[];
  elapsedMs: number;
  lastCode: number;
}

const SHELLS = new Set(['sh', 'bash', 'ash', 'dash']);

/**
 * Interprets `true`, `false`, `echo`, `sleep` and `exit`, alone or joined by `;`, `&&`, `||` and newlines under a shell's `-c`. Undefined for
 * any other command, whose effect is unknown.
 */
export function commandScript(words: readonly string[]): CommandScript | undefined {
  const [program = '', flag, text] = words;
  const progress: Progress = { lines: [], elapsedMs: 0, lastCode: 0 };
  const isShell = SHELLS.has(baseName(program)) && flag !== undefined && /^-[a-z]*c$/.test(flag);
  if (isShell) return text === undefined ? undefined : followShell(text, progress);
  return follow(words, progress) === 'unknown' ? undefined : scriptOf(progress);
}

function followShell(text: string, progress: Progress): CommandScript | undefined {
  let joint = ';';
  for (const part of text.split(/(;|&&|\|\||\n)/)) {
    const words = wordsOf(part);
    if (words === undefined) return undefined;
    if (part === ';' || part === '&&' || part === '||' || part === '\n') joint = part;
    else if (words.length > 0 && isReached(joint, progress.lastCode)) {
      const outcome = follow(words, progress);
      if (outcome === 'unknown') return undefined;
      if (outcome === 'ended') break;
    }
  }
  return scriptOf(progress);
}

function isReached(joint: string, lastCode: number): boolean {
  if (joint === '&&') return lastCode === 0;
  return joint === '||' ? lastCode !== 0 : true;
}

function follow([program = '', ...args]: readonly string[], progress: Progress): 'goes on' | 'ended' | 'unknown' {
  progress.lastCode = 0;
  switch (baseName(program)) {
    case 'true':
    case ':':
      return 'goes on';
    case 'false':
      progress.lastCode = 1;
      return 'goes on';
    case 'echo':
      progress.lines.push({ afterMs: progress.elapsedMs, line: args.join(' ') });
      return 'goes on';
    case 'sleep':
      return sleep(args[0], progress);
    case 'exit':
      progress.lastCode = Number(args[0] ?? 0) & 255;
      return /^\d*$/.test(args[0] ?? '') ? 'ended' : 'unknown';
    default:
      return 'unknown';
  }
}

const SLEEP_UNITS = lookupTable<number>({ s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 });

function sleep(text: string | undefined, progress: Progress): 'goes on' | 'ended' | 'unknown' {
  if (text === 'infinity' || text === 'inf') {
    progress.elapsedMs = Infinity;
    return 'ended';
  }
  const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text ?? '');
  if (match === null) return 'unknown';
  progress.elapsedMs += Number(match[1]) * (SLEEP_UNITS[match[2] || 's'] as number);
  return 'goes on';
}

/** Splits at spaces and respects quotes. Undefined for other shell syntax: variables, pipes, redirections, loops. */
function wordsOf(text: string): readonly string[] | undefined {
  const words: string[] = [];
  for (const [, double, single, plain] of text.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)) {
    if (plain !== undefined && /[|&<>(){}$`*?]/.test(plain) && !/^(\|\||&&)$/.test(plain)) return undefined;
    if (double !== undefined && /[$`]/.test(double)) return undefined;
    words.push(double ?? single ?? plain ?? '');
  }
  return words;
}

function scriptOf({ lines, elapsedMs, lastCode }: Progress): CommandScript {
  return { lines, runTimeMs: elapsedMs, exitCode: lastCode };
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

/** Of the controller manager, which waits for them to end. */
const RECYCLER_PODS = 'recycler-for-';

/** The command if it can be interpreted. Other commands of Job and recycler pods succeed at once, so that these complete. */
export function expectedCommand({ command, args }: ContainerConfig, { labels, metadata }: SandboxConfig): CommandScript | undefined {
  const script = command.length + args.length === 0 ? undefined : commandScript([...command, ...args]);
  const mustEnd = labels['batch.kubernetes.io/job-name'] !== undefined || metadata.name.startsWith(RECYCLER_PODS);
  if (script !== undefined || !mustEnd) return script;
  return { lines: [], runTimeMs: 0, exitCode: 0 };
}
