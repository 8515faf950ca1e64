import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from './commands.ts';
import { createContext } from './context.ts';
import { flagsDocument } from './flags-document.test-data.ts';
import { createProgram } from './program.ts';

const FILE = new URL('../../docs/flags.md', import.meta.url);

test('docs/flags.md matches the flags of the commands', async () => {
  const nowhere = { write: () => {} };
  const io = { argv: [], env: {}, cwd: '.', stdout: nowhere, stderr: nowhere, interruption: undefined as never };
  const context = createContext(io, () => Promise.reject(new Error('not needed')));
  const document = flagsDocument(await createProgram({ commands: COMMANDS, context, argv: undefined }));
  if (process.env.UPDATE_DOCS) writeFileSync(FILE, document);
  expect(readFileSync(FILE, 'utf8')).toBe(document);
});
