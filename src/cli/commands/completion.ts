import { Argument, type Command } from 'commander';
import { completionScript, SHELLS, type Shell } from '../completion-script.ts';
import type { CliContext } from '../context.ts';

const INSTALLATION = `
To use it now and in every new shell:
  bash:  sampan completion bash > ~/.local/share/bash-completion/completions/sampan
  zsh:   sampan completion zsh > "\${fpath[1]}/_sampan"
  fish:  sampan completion fish > ~/.config/fish/completions/sampan.fish`;

export function configureCompletion(command: Command, context: CliContext): void {
  command
    .addArgument(new Argument('<shell>', 'whose script to print').choices(SHELLS))
    .addHelpText('after', INSTALLATION)
    .action(async (shell: Shell) => {
      context.print(completionScript(shell, await context.commandTree()));
    });
}
