import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { maskSource } from './mask.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Import {
  specifier: string;
  /** `import type` and `export type`: erased at run time. */
  typeOnly: boolean;
}

export interface SourceFile {
  /** The path from the repository's root, with forward slashes. */
  path: string;
  /** The directory under src/, or '' for files in src/ itself. */
  layer: string;
  isTest: boolean;
  text: string;
  /** The text without the contents of comments and strings. */
  code: string;
  imports: Import[];
}

let tree: readonly SourceFile[] | undefined;

/** Every TypeScript file under src/. Read once for all rules of a worker: masking it costs more than most rules. */
export function readSourceTree(): readonly SourceFile[] {
  tree ??= sourceFiles();
  return tree;
}

function sourceFiles(): readonly SourceFile[] {
  return readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name.split(path.sep).join('/')}`)
    .sort()
    .map((name) => sourceFile(name, readFileSync(path.join(ROOT, name), 'utf8')));
}

/** Tests, their helpers (`thing.test-schema.ts`), and contracts: suites that every implementation of an interface passes. */
export function isTestPath(name: string): boolean {
  return /\.(test|bench|test-[\w-]+)\.ts$|\/contract(\.ts$|\/)/.test(name);
}

export function sourceFile(name: string, text: string): SourceFile {
  const parts = name.split('/');
  const layer = parts.length > 2 ? (parts[1] as string) : '';
  return { path: name, layer, isTest: isTestPath(name), text, code: maskSource(text), imports: importsOf(text) };
}

const IMPORT =
  /^(?:import|export)\s+(type\s)?[^;'"`]*?\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;
const ONLY_TYPES = /^(?:import|export)\s*\{\s*(?:type\s+[\w$]+(?:\s+as\s+[\w$]+)?\s*,?\s*)+\}\s*from/;

/** Relies on formatted code: top-level statements start their line. */
function importsOf(text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([statement, type, from, bare, dynamic]) => ({
    specifier: (from ?? bare ?? dynamic) as string,
    typeOnly: type !== undefined || ONLY_TYPES.test(statement),
  }));
}

/** The file that a relative import resolves to; undefined for packages and Node modules. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(from), specifier);
  return specifier.startsWith('#') ? `src/${specifier.slice(1)}/index.ts` : undefined;
}
