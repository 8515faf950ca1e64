import { type Interruption, interruptionOf } from './interruption.ts';
import { runCli } from './run-cli.ts';

// The only place that reads argv and env, or ends the process.
const interruption: Interruption = interruptionOf(process, (code) => process.exit(code));

// Whoever reads our output may stop reading (`sampan … | head`); that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const ended = runCli({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  interruption,
});

// Not awaited at the top, for which there is no form outside of modules.
void ended.then((code) => {
  process.exitCode = code;
});
