export interface TarFile {
  readonly name: string;
  readonly mode?: number;
  readonly content: Buffer;
}

export interface TarOther {
  readonly name: string;
  readonly mode?: number;
  /** The target of a symbolic link; absent for directories. */
  readonly linkName?: string;
}

const BLOCK = 512;

/** A reproducible archive: owner 0, time 0. Names have at most 100 bytes. */
export function writeTar(entries: readonly (TarFile | TarOther)[]): Buffer {
  const parts: Buffer[] = [];
  for (const entry of entries) {
    parts.push(header(entry));
    if ('content' in entry) parts.push(entry.content, Buffer.alloc((BLOCK - (entry.content.length % BLOCK)) % BLOCK));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(entry: TarFile | TarOther): Buffer {
  const block = Buffer.alloc(BLOCK);
  const isFile = 'content' in entry;
  const linkName = isFile ? undefined : entry.linkName;
  const name = Buffer.from(entry.name);
  if (name.length > 100) throw new RangeError(`${JSON.stringify(entry.name)} is too long a name for the archive`);
  name.copy(block);
  block.write(octal(entry.mode ?? (isFile ? 0o644 : linkName === undefined ? 0o755 : 0o777), 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(isFile ? entry.content.length : 0, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(isFile ? '0' : linkName === undefined ? '5' : '2', 156);
  if (linkName !== undefined) block.write(linkName, 157, 100);
  block.write('ustar\x0000', 257);
  block.fill(0x20, 148, 156);
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
