import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findProgram } from './machine-programs.ts';
import { type Architecture, architectureOf, pauseProgram } from './pause-program.ts';

const architecture = architectureOf(process.arch);
const emulator = await findProgram('qemu-aarch64-static', '');

/** How the program for a processor is started here; undefined: it cannot be. */
function commandFor(target: Architecture): readonly string[] | undefined {
  if (process.platform !== 'linux') return undefined;
  if (target === architecture) return [];
  return target === 'arm64' && emulator !== undefined ? [emulator] : undefined;
}

describe.each<Architecture>(['amd64', 'arm64'])('the program of the sandbox image for %s', (target) => {
  const command = commandFor(target);
  test.skipIf(command === undefined).each(['SIGTERM', 'SIGINT'] as const)('sleeps, and exits with 0 on %s', async (signal) => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'pause-'));
    try {
      const file = path.join(directory, 'pause');
      await writeFile(file, pauseProgram(target), { mode: 0o755 });
      const [program, ...args] = [...command!, file];
      const child = spawn(program!, args);
      await once(child, 'spawn');
      // A signal that arrives before the program blocks it also ends it, with another exit status: the test sends it when the program
      // sleeps.
      await expect.poll(() => readFileSync(`/proc/${child.pid}/wchan`, 'utf8')).toContain('sig');
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

test('the program for arm64 is the same, instruction by instruction', () => {
  const code = pauseProgram('arm64').subarray(120);
  const words = Array.from({ length: (code.length - 8) / 4 }, (_, i) => code.readUInt32LE(i * 4).toString(16));
  // mov x0,#0; adr x1,set; mov x2,#0; mov x3,#8; mov x8,#135; svc #0
  expect(words.slice(0, 6)).toEqual(['d2800000', '100003a1', 'd2800002', 'd2800103', 'd28010e8', 'd4000001']);
  // cmp x0,#17; b.eq reap; cmp x0,#15; b.eq exit; cmp x0,#2; b.ne wait
  expect(words.slice(12, 18)).toEqual(['f100441f', '54000100', 'f1003c1f', '54000060', 'f100081f', '54fffea1']);
  expect(code.readBigUInt64LE(code.length - 8)).toBe(0x14002n);
});

test.each([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
  ['s390x', undefined],
])('processors of type %s have the program for %s', (arch, expected) => {
  expect(architectureOf(arch)).toBe(expected);
});
