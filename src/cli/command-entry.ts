import type { Command } from 'commander';
import type { CliContext } from './context.ts';

export const GROUPS = {
  cluster: 'Cluster:',
  components: 'Components, each alone:',
  tools: 'Tools:',
} as const;

/** A sub-command in the list. Its file is loaded on demand. */
export interface CommandEntry {
  name: string;
  group: keyof typeof GROUPS;
  /** One line for the help, without a full stop. */
  summary: string;
  load: () => Promise<ConfigureCommand>;
}

/** Adds description, options, arguments and action. */
export type ConfigureCommand = (command: Command, context: CliContext) => void;
