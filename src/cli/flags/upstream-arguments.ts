/**
 * Rewrites forms of flags that upstream's components take and this command line does not: underscores in names (`--secure_port`), and the level of
 * logging as `-v 4`, `-v=4` and `-v4`. A bare `-v` stays what it is for every command.
 */
export function upstreamArguments(argv: readonly string[]): readonly string[] {
  const rewritten: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (word === '--') return [...rewritten, ...argv.slice(i)];
    if (word === '-v' && LEVEL.test(argv[i + 1] ?? '')) rewritten.push(`--v=${argv[++i]}`);
    else rewritten.push(upstreamArgument(word));
  }
  return rewritten;
}

const LEVEL = /^\d{1,9}$/;
const SHORT_LEVEL = /^-v=?(\d{1,9})$/;

function upstreamArgument(word: string): string {
  const level = SHORT_LEVEL.exec(word)?.[1];
  if (level !== undefined) return `--v=${level}`;
  if (!word.startsWith('--')) return word;
  const end = word.indexOf('=');
  return end < 0 ? word.replaceAll('_', '-') : word.slice(0, end).replaceAll('_', '-') + word.slice(end);
}
