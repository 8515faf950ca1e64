import { Command, Help, Option } from 'commander';
import { type CommandEntry, GROUPS } from './command-entry.ts';
import type { CliContext } from './context.ts';
import { readManifest } from './manifest.ts';
import { bold } from './style.ts';

export interface ProgramOptions {
  commands: readonly CommandEntry[];
  context: CliContext;
  /** Selects the command to load. Undefined: all. */
  argv: readonly string[] | undefined;
}

/** The command tree; only the command in argv is loaded. */
export async function createProgram({ commands, context, argv }: ProgramOptions): Promise<Command> {
  const program = baseProgram(context);
  const commandName = argv && commandIn(argv);
  for (const entry of commands) {
    const command = program.command(entry.name).summary(entry.summary).helpGroup(GROUPS[entry.group]);
    command.description(`${entry.summary}.`);
    if (argv === undefined || entry.name === commandName) (await entry.load())(command, context);
  }
  return program;
}

/** The first non-option word: global options take no values. */
export function commandIn(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  return words[0] === 'help' ? words[1] : words[0];
}

/** Commander's help with commands before options. */
function formatHelpFor(context: CliContext): Help['formatHelp'] {
  return (command, help) => {
    const sections = new Help().formatHelp.call(help, command, help).trimEnd().split('\n\n');
    const isOptions = (section: string) => /^(Global )?Options/.test(section);
    const ordered = [...sections.filter((section) => !isOptions(section)), ...sections.filter(isOptions)];
    // bounded: our own help.
    const styled = context.color.stdout ? ordered.map((section) => section.replace(/^[A-Z][^\n]*:$/m, bold)) : ordered;
    return `${styled.join('\n\n')}\n`;
  };
}

function baseProgram(context: CliContext): Command {
  const program = new Command('sampan');
  program
    .description('Kubernetes written in TypeScript: a whole cluster in one process.')
    .usage('<command> [options]')
    .version(`sampan ${readManifest().version}`, '--version', 'show the version')
    .addOption(new Option('-v, --verbose', 'show stack traces and more detail').helpGroup('Options for every command:'))
    .addOption(new Option('--no-color', 'no colours, also by NO_COLOR').helpGroup('Options for every command:'))
    .helpOption('-h, --help', 'show help')
    .commandsGroup(GROUPS.tools)
    .helpCommand('help [command]', 'Show help of a command')
    .addHelpText('after', "\nRun 'sampan <command> --help' for what a command takes.")
    .configureHelp({ showGlobalOptions: true, formatHelp: formatHelpFor(context) })
    // Errors are reported in one place, with hints.
    .configureOutput({
      writeOut: (text) => context.print(text.replace(/\n$/, '')),
      outputError: () => {},
      getOutHasColors: () => context.color.stdout,
    })
    .exitOverride();
  return program;
}
