import type { SourceFile } from './source-tree.ts';

/** Participles and pronouns say nothing about what they stand for: a noun belongs beside them, or instead of them. */
const VAGUE =
  'asked finding findings found given giving got had held kept known made picked said shown taken told tried verdicts wanted wanting';
const NAMES = VAGUE.split(' ').join('|');
/** Declarations: statements, parameters and patterns, members of classes and interfaces. */
const DECLARATIONS = [
  new RegExp(`\\b(?:const|let|var|function\\*?|class|interface|type|enum)\\s+(${NAMES})\\b`, 'gi'),
  new RegExp(`^\\s+(?:(?:readonly|private|protected|static|async|get|set)\\s+)*#?(${NAMES})[?!]?\\s*(?::|\\(|=[^=>])`, 'gim'),
  new RegExp(`[({,[]\\s*(?:\\.\\.\\.)?(${NAMES})\\s*(?:[,})\\]]|\\??:|=[^=])`, 'gi'),
  new RegExp(`(?:^|[(,=]|\\breturn)\\s*(${NAMES})\\s*=>`, 'gim'),
];

/** Declared identifiers that are only a participle. */
export function identifierFaults({ path, code }: SourceFile): string[] {
  const matches = DECLARATIONS.flatMap((declaration) => [...code.matchAll(declaration)]);
  const faults = matches.map((match) => {
    const line = code.slice(0, match.index + match[0].indexOf(match[1]!)).split('\n').length;
    return `${path}:${line}: ${match[1]} does not say what it is`;
  });
  return [...new Set(faults)];
}
