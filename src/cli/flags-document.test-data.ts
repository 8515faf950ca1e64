import type { Command, Option } from 'commander';

/** Components with upstream's flags. */
const COMPONENTS: ReadonlyMap<string, string> = new Map([
  ['apiserver', 'kube-apiserver'],
  ['controller-manager', 'kube-controller-manager'],
  ['scheduler', 'kube-scheduler'],
  ['kubelet', 'kubelet'],
  ['proxy', 'kube-proxy'],
]);

const HEAD = `# Flags

Every component that runs alone takes the flags of its upstream counterpart in v1.36: \`--flag value\` and \`--flag=value\`, booleans also as \`--flag\`, lists separated by commas
or given again. Flags that have no meaning here are accepted and noted once at the start. In \`sampan up\`, flags of a component are given as \`--apiserver-arg name=value\` and the like.

This page is made from the flag tables: \`UPDATE_DOCS=1 npx vitest run src/cli/flags-document.test.ts\`.
`;

/** Generates docs/flags.md. */
export function flagsDocument(tree: Command): string {
  return `${HEAD}${[...COMPONENTS].map(([name, upstream]) => section(commandOf(tree, name), upstream)).join('')}`;
}

function commandOf(tree: Command, name: string): Command {
  const command = tree.commands.find((candidate) => candidate.name() === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  return command;
}

function section(command: Command, upstream: string): string {
  const options = command.options.filter(({ long }) => long !== undefined).toSorted((a, b) => (a.long! < b.long! ? -1 : 1));
  const withEffect = options.filter((option) => noEffectOf(option) === undefined && !option.hidden);
  const without = options.filter((option) => noEffectOf(option) !== undefined);
  const effects = table(
    ['flag', 'what it says'],
    withEffect.map((option) => [code(option), cell(option.description)]),
  );
  const none = table(
    ['no effect here', 'why'],
    without.map((option) => [code(option), cell(noEffectOf(option)!)]),
  );
  return `\n## sampan ${command.name()} (${upstream})\n\n${effects}${without.length > 0 ? `\n${none}` : ''}`;
}

function noEffectOf({ description }: Option): string | undefined {
  return /^no effect: (.*)$/s.exec(description)?.[1];
}

function code({ flags }: Option): string {
  return `\`${flags}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return `${line(head)}${line(head.map(() => '---'))}${rows.map(line).join('')}`;
}
