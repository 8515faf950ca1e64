import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface Word {
  text: string;
  description: string;
}

/** Candidates after a command path: `{ path: ['completion'], words: [bash, zsh, …] }`. */
interface Completion {
  path: readonly string[];
  words: Word[];
}

/** A static completion script for commands, options and choices. */
export function completionScript(shell: Shell, program: Command): string {
  const completions = completionsOf(program, []);
  switch (shell) {
    case 'bash':
      return bashScript(completions);
    case 'zsh':
      return zshScript(completions);
    case 'fish':
      return fishScript(completions);
  }
}

function completionsOf(command: Command, path: readonly string[]): Completion[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).map((sub) => ({ text: sub.name(), description: sub.summary() || sub.description() }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((text) => ({ text, description })),
  );
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].map((option) => ({
    text: option.long ?? (option.short as string),
    description: option.description,
  }));
  const nested = command.commands.flatMap((sub) => completionsOf(sub, [...path, sub.name()]));
  return [{ path, words: [...commands, ...choices, ...options] }, ...nested];
}

function bashScript(completions: readonly Completion[]): string {
  const cases = completions.map(({ path, words }) => `    '${path.join(' ')}') words='${words.map((word) => word.text).join(' ')}' ;;`);
  return `# bash completion for sampan
_sampan() {
  local path='' words='' word
${wordLoop(completions)}
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sampan sampan`;
}

/** Determines the command path from the words before the cursor. */
function wordLoop(completions: readonly Completion[]): string {
  const paths = completions.filter(({ path }) => path.length > 0).map(({ path }) => `'${path.join(' ')}'`);
  return `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done`;
}

function zshScript(completions: readonly Completion[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const entry = ({ text, description }: Word) => quote(`${text.replaceAll(':', '\\:')}:${description}`);
  const cases = completions.map(({ path, words }) => `    ${quote(path.join(' '))}) candidates=(${words.map(entry).join(' ')}) ;;`);
  const paths = completions.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(' ')));
  return `#compdef sampan
_sampan() {
  local at='' word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      ${paths.join('|')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  _describe 'sampan' candidates || _files
}
compdef _sampan sampan`;
}

function fishScript(completions: readonly Completion[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const topLevel = completions.filter(({ path }) => path.length === 1).map(({ path }) => path[0]);
  const condition = (path: readonly string[]) =>
    path.length === 0
      ? `not __fish_seen_subcommand_from ${topLevel.join(' ')}`
      : path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ');
  const line = (path: readonly string[], { text, description }: Word) => {
    const word = text.startsWith('--') ? `-l ${text.slice(2)}` : `-a ${quote(text)}`;
    return `complete -c sampan -n ${quote(condition(path))} ${word} -d ${quote(description)}`;
  };
  return ['# fish completion for sampan', ...completions.flatMap(({ path, words }) => words.map((word) => line(path, word)))].join('\n');
}
