import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

const MAX_BYTES = 1_048_576;

/** The value of a key in a file of `KEY='value'` lines in a volume; empty when absent. Throws on malformed files. */
export async function envFileValue(root: string, path: string, key: string): Promise<string> {
  try {
    return parseEnvFile(await readInside(root, path), key);
  } catch (cause) {
    // The file's content must not appear in statuses.
    throw new Error("couldn't parse env file", { cause });
  }
}

/** Symlinks must not lead out of the volume. */
async function readInside(root: string, path: string): Promise<string> {
  const base = await realpath(root);
  const target = await realpath(join(base, path));
  if (!target.startsWith(base + sep)) throw new Error(`${path} leads out of the volume`);
  await using file = await open(target);
  const { size } = await file.stat();
  if (size > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES} bytes`);
  return await file.readFile('utf8');
}

/** Values are enclosed in single quotes and may span lines. */
export function parseEnvFile(text: string, key: string): string {
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] as string).replace(/^[ \t]+/, '');
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    const name = line.slice(0, equals);
    if (equals < 1 || /[ \t]$/.test(name)) throw new Error(`line ${at + 1} has no name before =`);
    const value = line.slice(equals + 1);
    if (/^[ \t]/.test(value)) {
      if (name === key) return '';
      continue;
    }
    if (!value.startsWith("'")) throw new Error(`the value in line ${at + 1} is not in single quotes`);
    const quoted = readQuoted(lines, at, value.slice(1));
    if (name === key) return quoted.value;
    at = quoted.lastLine;
  }
  return '';
}

function readQuoted(lines: readonly string[], from: number, start: string): { readonly value: string; readonly lastLine: number } {
  const parts: string[] = [];
  for (let at = from, rest: string | undefined = start; rest !== undefined; rest = lines[++at]) {
    const end = rest.indexOf("'");
    if (end < 0) {
      parts.push(rest);
      continue;
    }
    if (!/^[ \t]*(#|$)/.test(rest.slice(end + 1))) throw new Error(`something follows the value in line ${at + 1}`);
    return { value: [...parts, rest.slice(0, end)].join('\n'), lastLine: at };
  }
  throw new Error(`the value in line ${from + 1} has no end`);
}
