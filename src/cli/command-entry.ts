import type { Command } from 'commander';
import type { CliContext } from './context.ts';

export const GROUPS = {
  cluster: 'Cluster:',
  components: 'Components, each alone:',
  tools: 'Tools:',
} as const;

/** A sub-command as the list of all knows it. Its own file is loaded only when it is used. */
export interface CommandEntry {
  name: string;
  group: keyof typeof GROUPS;
  /** One line in the help; a sentence without its full stop. */
  summary: string;
  load: () => Promise<ConfigureCommand>;
}

/** Gives the command its description, options, arguments and action. */
export type ConfigureCommand = (command: Command, context: CliContext) => void;
