import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTar, TarError } from './tar-reader.ts';
import { writeTar } from './tar-writer.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function entriesOf(bytes: Buffer, chunk = 1000) {
  const entries: { name: string; type: string; linkName: string; text: string }[] = [];
  for await (const { name, type, linkName, content } of readTar(inChunks(bytes, chunk))) {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    entries.push({ name, type, linkName, text: Buffer.concat(parts).toString('latin1') });
  }
  return entries;
}

/** An entry of any type. */
function entry(flag: string, content: string): Buffer {
  const archive = writeTar([{ name: 'extension', content: Buffer.from(content) }]);
  const block = archive.subarray(0, 512);
  block.write(flag, 156, 'latin1');
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return archive.subarray(0, archive.length - 1024);
}

describe('reading a tar archive', () => {
  test('gives back what was written, however it is cut', async () => {
    const file = fc.record({ name: fc.stringMatching(/^[a-z]{1,30}$/), content: fc.uint8Array({ maxLength: 2000 }).map(Buffer.from) });
    await fc.assert(
      fc.asyncProperty(fc.array(file), fc.integer({ min: 1, max: 3000 }), async (files, chunk) => {
        const entries = await entriesOf(writeTar(files), chunk);
        expect(entries).toEqual(files.map(({ name, content }) => ({ name, type: 'file', linkName: '', text: content.toString('latin1') })));
      }),
    );
  });

  test.each(['gnu', 'posix', 'ustar'])('takes what tar --format=%s writes, with long names and links', async (format) => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'tar-'));
    try {
      const long = `${'a'.repeat(90)}/${'b'.repeat(60)}`;
      const name = format === 'ustar' ? 'short' : long.replace('/', '-').repeat(1).slice(0, 140);
      writeFileSync(path.join(directory, name), 'hello');
      symlinkSync(name.slice(0, 99), path.join(directory, 'link'));
      const archive = execFileSync('tar', [`--format=${format}`, '--sort=name', '-C', directory, '-c', '.']);
      expect((await entriesOf(archive)).sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
        [
          { name: './', type: 'directory', linkName: '', text: '' },
          { name: './link', type: 'symlink', linkName: name.slice(0, 99), text: '' },
          { name: `./${name}`, type: 'file', linkName: '', text: 'hello' },
        ].sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('skips content that nobody reads', async () => {
    const names: string[] = [];
    for await (const { name } of readTar(inChunks(writeTar([{ name: 'a', content: Buffer.alloc(5000) }, { name: 'b' }]), 700)))
      names.push(name);
    expect(names).toEqual(['a', 'b']);
  });

  test.each([
    ['text', Buffer.from('hello world'.repeat(100)), 'not a tar archive'],
    ['an archive cut off in a file', writeTar([{ name: 'a', content: Buffer.alloc(5000) }]).subarray(0, 3000), 'cut off'],
    ['an archive cut off in a header', writeTar([{ name: 'a' }]).subarray(0, 300), 'cut off'],
  ])('rejects %s', async (_, bytes, text) => {
    await expect(entriesOf(bytes)).rejects.toThrow(text);
    await expect(entriesOf(bytes)).rejects.toBeInstanceOf(TarError);
  });

  test.each([
    ['an extended header without a length', entry('x', 'a'.repeat(40)), 'malformed'],
    ['an extended header with a length of zero', entry('x', '0 path=a\n'), 'malformed'],
    ['an extended header with a length in another base', entry('x', '0x9 path=a\n'), 'malformed'],
    ['an extended header that is longer than it is', entry('x', '99 path=a\n'), 'malformed'],
    ['an extended header of two megabytes', entry('x', 'a'.repeat(2 << 20)), 'too large'],
    ['a long name of 5,000 characters', entry('L', 'a'.repeat(5000)), 'longer than 4096'],
    ['a path of 5,000 characters', entry('x', `5010 path=${'a'.repeat(4999)}\n`), 'longer than 4096'],
    ['a link of 5,000 characters', entry('K', 'a'.repeat(5000)), 'longer than 4096'],
    ['a hundred extended headers in a row', Buffer.concat(Array.from({ length: 100 }, () => entry('L', 'a'))), 'too many'],
    ['a hundred global headers in a row', Buffer.concat(Array.from({ length: 100 }, () => entry('g', '9 a=bcd\n'))), 'too many'],
  ])('rejects %s', async (_, bytes, text) => {
    await expect(entriesOf(Buffer.concat([bytes, writeTar([{ name: 'a', content: Buffer.from('b') }])]))).rejects.toThrow(text);
  });

  test('arbitrary damage is a TarError or changes content only', async () => {
    const archive = Buffer.concat([entry('x', '13 path=long\n'), writeTar([{ name: 'file', content: Buffer.from('content') }])]);
    await fc.assert(
      fc.asyncProperty(fc.nat(archive.length - 1), fc.integer({ min: 0, max: 255 }), async (at, byte) => {
        const damaged = Buffer.from(archive);
        damaged[at] = byte;
        await entriesOf(damaged).catch((error: unknown) => expect(error).toBeInstanceOf(TarError));
      }),
    );
  });
});
