import { type Interruption, interruptionOf } from './interruption.ts';
import { runCli } from './run-cli.ts';

// The only place that reads argv and env, or exits the process.
const interruption: Interruption = interruptionOf(process, (code) => process.exit(code));

// EPIPE: the reader has closed the pipe (`sampan … | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const ended = runCli({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  interruption,
});

// No top-level await: the bundle is not an ES module.
void ended.then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 1;
  },
);
