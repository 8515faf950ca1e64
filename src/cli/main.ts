#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { type Interruption, interruptionOf } from './interruption.ts';
import { runCli } from './run-cli.ts';

// A server's work is spread over thousands of functions, each called a little. V8's optimizer by default copies so many of them into each other
// that compiling costs more than it gains: measured with `npm run bench api`, a fifth of all CPU time.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200');

// The only place that reads argv and env, or ends the process.
const interruption: Interruption = interruptionOf(process, (code) => process.exit(code));

// Whoever reads our output may stop reading (`sampan … | head`); that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runCli({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  interruption,
});
