import type { CommandEntry } from './command-entry.ts';

/** Every sub-command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'completion',
    group: 'tools',
    summary: 'Print a script that completes commands and options in your shell',
    load: async () => (await import('./commands/completion.ts')).configureCompletion,
  },
  {
    name: 'version',
    group: 'tools',
    summary: 'Show the versions of Sampan, of its Kubernetes API and of Node.js',
    load: async () => (await import('./commands/version.ts')).configureVersion,
  },
];
