import type { TerminalSize } from './remote-command.ts';

/** The limit of an incomplete size message. */
const MAX_PENDING_BYTES = 1024;

/** Parses terminal sizes: a sequence of flat JSON objects. */
export class TerminalSizes {
  #pending = '';
  #latest: TerminalSize | undefined;
  #listener: ((size: TerminalSize) => void) | undefined;

  write(chunk: Buffer): void {
    this.#pending += chunk.toString('latin1');
    for (let end = this.#pending.indexOf('}'); end >= 0; end = this.#pending.indexOf('}')) {
      this.#read(this.#pending.slice(0, end + 1));
      this.#pending = this.#pending.slice(end + 1);
    }
    if (this.#pending.length > MAX_PENDING_BYTES) this.#pending = '';
  }

  listen(listener: (size: TerminalSize) => void): void {
    this.#listener = listener;
    if (this.#latest !== undefined) listener(this.#latest);
  }

  #read(text: string): void {
    const size = parseSize(text);
    if (size === undefined) return;
    this.#latest = size;
    this.#listener?.(size);
  }
}

/** Undefined if malformed, which is ignored. */
function parseSize(text: string): TerminalSize | undefined {
  try {
    const { Width: width, Height: height } = JSON.parse(text) as { Width?: unknown; Height?: unknown };
    return isLength(width) && isLength(height) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

function isLength(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= 0xffff;
}

export function encodeSize(width: number, height: number): Buffer {
  return Buffer.from(`${JSON.stringify({ Width: width, Height: height })}\n`);
}
