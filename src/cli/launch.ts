#!/usr/bin/env node
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { constants, Script } from 'node:vm';

// A server's work is spread over thousands of functions, each called a little. V8's optimizer by default copies so many of them into each other
// that compiling costs more than it gains: measured with `npm run bench api`, a fifth of all CPU time.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200');
// Collect garbage when the heap has grown by two fifths, not when it has doubled: a quarter less memory for a few percent of CPU time.
setFlagsFromString('--heap-growing-percent=40');
// The room for new objects grows faster than by doubling: with fewer collections on the way, a start takes a tenth less time.
setFlagsFromString('--semi-space-growth-factor=4');

// Answers are put together in buffers that live for a moment: they come from one pool instead of being allocated one by one.
Buffer.poolSize = 128 * 1024;

/** Commands that need nearly all of the code. The others read only what they need. */
const SERVERS: ReadonlySet<string> = new Set(['up', 'apiserver', 'controller-manager', 'scheduler', 'kubelet']);
const program = fileURLToPath(new URL('server.cjs', import.meta.url));
const compiled = fileURLToPath(new URL('server.code-cache', import.meta.url));

if (SERVERS.has(process.argv[2] ?? '') && existsSync(program)) run();
else await import('./main.ts');

/**
 * Runs the program from what the build compiled: reading three megabytes of source anew takes longer than starting a cluster. What was compiled by
 * another version of Node is not used, and everything works without it.
 */
function run(): void {
  const script = new Script(readFileSync(program, 'utf8'), {
    filename: program,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(existsSync(compiled) && { cachedData: readFileSync(compiled) }),
  });
  // Asked for by the build, at the end of a run: what has been called by then is worth keeping.
  const { SAMPAN_WRITE_CODE_CACHE: target } = process.env;
  if (target) process.once('exit', () => writeFileSync(target, script.createCachedData()));
  const module = { exports: {} };
  (script.runInThisContext() as (...args: unknown[]) => void)(module.exports, createRequire(program), module, program);
}
