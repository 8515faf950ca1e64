const ELF_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const READ_EXECUTE = 5;
const READ_WRITE = 6;

/** ELF's numbers of architectures. */
export const ELF_MACHINES = { amd64: 62, arm64: 183 } as const;

export interface ElfProgramOptions {
  readonly machine: number;
  /** Where the file is loaded, headers included. */
  readonly address: number;
  /** The largest page size of the architecture. */
  readonly pageSize: number;
  /** Zero-initialized memory besides the code. */
  readonly memory?: { readonly address: number; readonly bytes: number };
}

/** A static ELF executable that begins at its first instruction. */
export function elfProgram(code: Buffer, { machine, address, pageSize, memory }: ElfProgramOptions): Buffer {
  const segments = memory === undefined ? 1 : 2;
  const start = ELF_HEADER_BYTES + segments * PROGRAM_HEADER_BYTES;
  const program = Buffer.alloc(start);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(program);
  program.writeUInt16LE(2, 16); // executable
  program.writeUInt16LE(machine, 18);
  program.writeUInt32LE(1, 20);
  program.writeBigUInt64LE(BigInt(address + start), 24); // entry point
  program.writeBigUInt64LE(BigInt(ELF_HEADER_BYTES), 32); // where program headers begin
  program.writeUInt16LE(ELF_HEADER_BYTES, 52);
  program.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  program.writeUInt16LE(segments, 56);
  const size = start + code.length;
  writeSegment(program, ELF_HEADER_BYTES, { flags: READ_EXECUTE, values: [0, address, address, size, size, pageSize] });
  if (memory !== undefined) {
    const values = [0, memory.address, memory.address, 0, memory.bytes, pageSize];
    writeSegment(program, ELF_HEADER_BYTES + PROGRAM_HEADER_BYTES, { flags: READ_WRITE, values });
  }
  return Buffer.concat([program, code]);
}

interface Segment {
  readonly flags: number;
  /** Offset in the file, virtual and physical address, sizes in the file and in memory, alignment. */
  readonly values: readonly number[];
}

function writeSegment(program: Buffer, at: number, { flags, values }: Segment): void {
  program.writeUInt32LE(1, at); // to be loaded
  program.writeUInt32LE(flags, at + 4);
  for (const [i, value] of values.entries()) program.writeBigUInt64LE(BigInt(value), at + 8 + 8 * i);
}
