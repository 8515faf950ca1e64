#!/usr/bin/env node
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { constants, runInNewContext, Script } from 'node:vm';

// A server's work is spread over thousands of functions. By default V8 inlines so much
// that compiling costs more than it gains: measured with `npm run bench api`, a fifth of all CPU time.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200');
// Collect garbage when the heap has grown by 40 %, not when it has doubled: a quarter less memory for a few percent of CPU time.
setFlagsFromString('--heap-growing-percent=40');
// The young generation grows faster: with fewer collections a start takes a tenth less time.
setFlagsFromString('--semi-space-growth-factor=4');
// Streams of bulk data collect their buffers early: see BulkGarbage. The first use makes a context, which takes milliseconds.
setFlagsFromString('--expose-gc');
Object.defineProperty(globalThis, 'gc', { configurable: true, get: exposeCollector });

// Responses use short-lived buffers: a larger pool saves allocations.
Buffer.poolSize = 128 * 1024;

/** Commands that need nearly all of the code; the others load only their part. */
const SERVERS: ReadonlySet<string> = new Set(['up', 'apiserver', 'controller-manager', 'scheduler', 'kubelet']);
const program = fileURLToPath(new URL('server.cjs', import.meta.url));
const compiled = fileURLToPath(new URL('server.code-cache', import.meta.url));

if (SERVERS.has(process.argv[2] ?? '') && existsSync(program)) run();
else await import('./main.ts');

function exposeCollector(): unknown {
  const value = runInNewContext('gc');
  Object.defineProperty(globalThis, 'gc', { value });
  return value;
}

/**
 * Runs the program with the build's V8 code cache: parsing three megabytes of source takes longer than starting a cluster. A cache of
 * another Node version is ignored.
 */
function run(): void {
  const script = new Script(readFileSync(program, 'utf8'), {
    filename: program,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(existsSync(compiled) && { cachedData: readFileSync(compiled) }),
  });
  // Set by the build: writes the code cache at exit, including lazily compiled functions.
  const { SAMPAN_WRITE_CODE_CACHE: target } = process.env;
  if (target) process.once('exit', () => writeFileSync(target, script.createCachedData()));
  const module = { exports: {} };
  (script.runInThisContext() as (...args: unknown[]) => void)(module.exports, createRequire(program), module, program);
}
