import { Command, Help, Option } from 'commander';
import { type CommandEntry, GROUPS } from './command-entry.ts';
import type { CliContext } from './context.ts';
import { readManifest } from './manifest.ts';
import { bold } from './style.ts';

export interface ProgramOptions {
  commands: readonly CommandEntry[];
  context: CliContext;
  /** Decides which command is loaded. Undefined: all of them are. */
  argv: readonly string[] | undefined;
}

/** The whole command tree, of which only the command that argv names is loaded. */
export async function createProgram({ commands, context, argv }: ProgramOptions): Promise<Command> {
  const program = baseProgram(context);
  const wanted = argv && commandIn(argv);
  for (const entry of commands) {
    const command = program.command(entry.name).summary(entry.summary).helpGroup(GROUPS[entry.group]);
    command.description(`${entry.summary}.`);
    if (argv === undefined || entry.name === wanted) (await entry.load())(command, context);
  }
  return program;
}

/** The first word that is not an option: the options before a command take no values. */
export function commandIn(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  return words[0] === 'help' ? words[1] : words[0];
}

/** Commander's help with what one looks for first: the commands before the options. */
function formatHelpFor(context: CliContext): Help['formatHelp'] {
  return (command, help) => {
    const sections = new Help().formatHelp.call(help, command, help).trimEnd().split('\n\n');
    const isOptions = (section: string) => /^(Global )?Options/.test(section);
    const ordered = [...sections.filter((section) => !isOptions(section)), ...sections.filter(isOptions)];
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
    // Errors are reported in one place, with their hints.
    .configureOutput({
      writeOut: (text) => context.print(text.replace(/\n$/, '')),
      outputError: () => {},
      getOutHasColors: () => context.color.stdout,
    })
    .exitOverride();
  return program;
}
