import { pushAll } from '../long-lists.ts';

/** An instruction: its bytes, given the distance from its end to a label. */
export interface Instruction {
  readonly length: number;
  encode(distanceTo: (label: string) => number): readonly number[];
}

/** Machine code. A string is a label for the next instruction; data follow the code, labelled by their names. */
export function assemble(items: readonly (Instruction | string)[], data: Readonly<Record<string, Buffer>>): Buffer {
  const at = new Map<string, number>();
  let offset = 0;
  for (const item of items) {
    if (typeof item === 'string') at.set(item, offset);
    else offset += item.length;
  }
  for (const [name, { length }] of Object.entries(data)) {
    at.set(name, offset);
    offset += length;
  }
  const code: number[] = [];
  for (const item of items) {
    if (typeof item === 'string') continue;
    const end = code.length + item.length;
    pushAll(
      code,
      item.encode((label) => at.get(label)! - end),
    );
  }
  return Buffer.concat([Buffer.from(code), ...Object.values(data)]);
}

/** The four bytes of a number, the lowest first. */
export function littleEndian(value: number): number[] {
  return [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, (value >> 24) & 0xff];
}
