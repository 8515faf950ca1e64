import { assemble, ELF_MACHINES, elfProgram, type Instruction, littleEndian } from '#base';

/**
 * The program of the sandbox image: sleeps, reaps orphaned children, and exits on SIGTERM and SIGINT. It blocks the three
 * signals and waits for them synchronously, so it needs no handlers, no stack and no memory.
 */
export type Architecture = 'amd64' | 'arm64';

/** The image architecture for Node's name of it; undefined: unsupported. */
export function architectureOf(arch: string): Architecture | undefined {
  return arch === 'x64' ? 'amd64' : arch === 'arm64' ? 'arm64' : undefined;
}

const SIGINT = 2;
const SIGTERM = 15;
const SIGCHLD = 17;
const WNOHANG = 1;
/** The size of a signal set. */
const SET_BYTES = 8;

const LOAD_ADDRESS = 0x400000;
/** The largest page size of arm64. */
const MAX_PAGE_SIZE = 0x10000;

export function pauseProgram(architecture: Architecture): Buffer {
  const code = architecture === 'amd64' ? amd64Code() : arm64Code();
  return elfProgram(code, { machine: ELF_MACHINES[architecture], address: LOAD_ADDRESS, pageSize: MAX_PAGE_SIZE });
}

function signalSet(): Buffer {
  const set = Buffer.alloc(SET_BYTES);
  set.writeBigUInt64LE([SIGINT, SIGTERM, SIGCHLD].reduce((bits, signal) => bits | (1n << BigInt(signal - 1)), 0n));
  return set;
}

function amd64Code(): Buffer {
  const bytes = (...code: number[]): Instruction => ({ length: code.length, encode: () => code });
  // bounded: spread lists are the bytes of a number
  const setRegister = (opcode: number, value: number) => bytes(opcode, ...littleEndian(value));
  const syscall = (number: number) => [setRegister(0xb8, number), bytes(0x0f, 0x05)];
  const address = (modrm: number): Instruction => ({
    length: 7,
    encode: (distanceTo) => [0x48, 0x8d, modrm, ...littleEndian(distanceTo('set'))],
  });
  const jump = (opcode: number, label: string): Instruction => ({
    length: 2,
    encode: (distanceTo) => [opcode, distanceTo(label) & 0xff],
  });
  const [rdi0, rsi0, rdx0, r10d0] = [bytes(0x31, 0xff), bytes(0x31, 0xf6), bytes(0x31, 0xd2), bytes(0x45, 0x31, 0xd2)];
  const r10 = (value: number) => bytes(0x41, 0xba, ...littleEndian(value));
  const compare = (value: number) => bytes(0x83, 0xf8, value);
  const [equal, notEqual, greater, always] = [0x74, 0x75, 0x7f, 0xeb];
  return assemble(
    [
      ...[rdi0, address(0x35), rdx0, r10(SET_BYTES), ...syscall(14)], // rt_sigprocmask(SIG_BLOCK, set, 0, 8)
      'wait',
      ...[address(0x3d), rsi0, rdx0, r10(SET_BYTES), ...syscall(128)], // rt_sigtimedwait(set, 0, 0, 8)
      ...[compare(SIGCHLD), jump(equal, 'reap')],
      ...[compare(SIGTERM), jump(equal, 'exit')],
      ...[compare(SIGINT), jump(notEqual, 'wait')],
      'exit',
      ...[rdi0, ...syscall(231)], // exit_group(0)
      'reap',
      ...[bytes(0x48, 0xc7, 0xc7, ...littleEndian(-1)), rsi0, setRegister(0xba, WNOHANG), r10d0, ...syscall(61)], // wait4(-1, 0, WNOHANG, 0)
      ...[bytes(0x85, 0xc0), jump(greater, 'reap')],
      jump(always, 'wait'),
    ],
    { set: signalSet() },
  );
}

function arm64Code(): Buffer {
  const word = (value: number): Instruction => ({ length: 4, encode: () => littleEndian(value) });
  const move = (register: number, value: number) => word(0xd2800000 | (value << 5) | register);
  const syscall = (number: number) => [move(8, number), word(0xd4000001)];
  // arm64 distances are relative to the beginning of the instruction.
  const address = (register: number): Instruction => ({
    length: 4,
    encode(distanceTo) {
      const distance = distanceTo('set') + 4;
      return littleEndian(0x10000000 | ((distance & 3) << 29) | ((distance >> 2) << 5) | register);
    },
  });
  const compare = (value: number) => word(0xf100001f | (value << 10));
  const jump = (condition: number, label: string): Instruction => ({
    length: 4,
    encode: (distanceTo) => littleEndian(0x54000000 | ((((distanceTo(label) + 4) / 4) & 0x7ffff) << 5) | condition),
  });
  const [equal, notEqual, greater, always] = [0, 1, 12, 14];
  return assemble(
    [
      ...[move(0, 0), address(1), move(2, 0), move(3, SET_BYTES), ...syscall(135)],
      'wait',
      ...[address(0), move(1, 0), move(2, 0), move(3, SET_BYTES), ...syscall(137)],
      ...[compare(SIGCHLD), jump(equal, 'reap')],
      ...[compare(SIGTERM), jump(equal, 'exit')],
      ...[compare(SIGINT), jump(notEqual, 'wait')],
      'exit',
      ...[move(0, 0), ...syscall(94)],
      'reap',
      ...[word(0x92800000), move(1, 0), move(2, WNOHANG), move(3, 0), ...syscall(260)],
      ...[compare(0), jump(greater, 'reap')],
      jump(always, 'wait'),
    ],
    { set: signalSet() },
  );
}
