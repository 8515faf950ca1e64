import { CommanderError } from 'commander';
import type { CommandEntry } from './command-entry.ts';
import { COMMANDS } from './commands.ts';
import { type CliContext, type CliIo, createContext } from './context.ts';
import { upstreamArguments } from './flags/upstream-arguments.ts';
import { commandIn, createProgram } from './program.ts';
import { reportError } from './report-error.ts';

/** Runs the command line and resolves with the exit code: 0, 1 for a failure, 2 for bad usage, 128 + n for a signal. */
export async function runCli(io: CliIo, commands: readonly CommandEntry[] = COMMANDS): Promise<number> {
  const argv = isComponent(io.argv, commands) ? upstreamArguments(io.argv) : io.argv;
  const context: CliContext = createContext({ ...io, argv }, () => createProgram({ commands, context, argv: undefined }));
  try {
    const program = await createProgram({ commands, context, argv });
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return io.interruption.exitCode() ?? 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const interrupted = io.interruption.exitCode();
    if (interrupted !== undefined && error instanceof Error && error.name === 'AbortError') return interrupted;
    return reportError(error, { context, verbose: context.verbose, command: commandIn(argv) });
  }
}

function isComponent(argv: readonly string[], commands: readonly CommandEntry[]): boolean {
  const name = commandIn(argv);
  return commands.some((entry) => entry.name === name && entry.group === 'components');
}
