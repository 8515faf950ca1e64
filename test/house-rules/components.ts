import path from 'node:path';
import type { SourceFile } from './source-tree.ts';

const REEXPORT = /^export \{([^}]*)\} from '([^']+)';/gm;
const SHAPE = ['config', 'deps', 'signal'];

/** The faults of exported components, which are functions called startX. */
export function componentFaults(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  // Helpers for tests are designed for convenience, not for composition.
  const indexes = files.filter((file) => file.path === `src/${file.layer}/index.ts` && file.layer !== 'testing');
  return indexes.flatMap((index) => starters(index).flatMap(({ name, from }) => signatureFaults(name, byPath.get(from), files)));
}

interface Starter {
  name: string;
  from: string;
}

function starters(index: SourceFile): Starter[] {
  return [...index.text.matchAll(REEXPORT)].flatMap(([, names, from]) =>
    (names as string)
      .split(',')
      .map((name) => name.trim().replace(/ as .*/, ''))
      .filter((name) => /^start[A-Z]/.test(name))
      .map((name) => ({ name, from: path.posix.join(path.posix.dirname(index.path), from as string) })),
  );
}

function signatureFaults(name: string, file: SourceFile | undefined, files: readonly SourceFile[]): string[] {
  const signature = file && new RegExp(`^export (async )?function ${name}(?:<[^(]*>)?\\(`, 'm').exec(file.code);
  if (!file || !signature) return [`${name} is exported, but not declared as a function where its index says`];
  const rest = file.code.slice(signature.index + signature[0].length);
  const parameters = rest.slice(0, closingParenthesis(rest));
  const returned = /^\)\s*:\s*(\w+)/.exec(rest.slice(parameters.length))?.[1];
  const faults: string[] = [];
  const names = parameterNames(parameters);
  if (names.join() !== SHAPE.join()) faults.push(`takes (${names.join(', ')}), not (${SHAPE.join(', ')})`);
  if (signature[1]) faults.push('is async: a component is returned at once, and has `ready`');
  if (!isComponentType(returned, files)) faults.push(`returns ${returned ?? 'nothing that is stated'}, not a Component`);
  return faults.map((fault) => `${file.path}: ${name} ${fault}`);
}

function closingParenthesis(text: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if ('([{'.includes(text[i] as string)) depth++;
    else if (')]}'.includes(text[i] as string) && depth-- === 0) return i;
  }
  return text.length;
}

/** The parameter names, without those inside brackets. */
function parameterNames(parameters: string): string[] {
  const flat = parameters.replace(/=>/g, '  ');
  const names: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= flat.length; i++) {
    const char = flat[i] ?? ',';
    if ('([{<'.includes(char)) depth++;
    else if (')]}>'.includes(char)) depth--;
    else if (char === ',' && depth === 0) {
      const name = flat.slice(start, i).split(':', 1)[0]?.replace('?', '').trim();
      if (name) names.push(name);
      start = i + 1;
    }
  }
  return names;
}

function isComponentType(type: string | undefined, files: readonly SourceFile[]): boolean {
  if (type === undefined) return false;
  if (type === 'Component') return true;
  const extended = new RegExp(
    `(?:interface ${type}(?:<[^{]*>)? extends [^{]*\\bComponent\\b|type ${type}(?:<[^=]*>)? =[^;]*\\bComponent\\b)`,
  );
  return files.some((file) => extended.test(file.code));
}
