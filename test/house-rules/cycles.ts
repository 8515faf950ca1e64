import { resolveImport, type SourceFile } from './source-tree.ts';

/** Each cycle as a chain of paths. Type imports may be cyclic, others may not. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const graph = new Map(files.map((file) => [file.path, targetsOf(file)]));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
      return;
    }
    state.set(file, 'open');
    for (const target of graph.get(file) ?? []) visit(target, [...trail, file]);
    state.set(file, 'done');
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

function targetsOf(file: SourceFile): string[] {
  return file.imports
    .filter(({ typeOnly }) => !typeOnly)
    .map(({ specifier }) => resolveImport(file.path, specifier))
    .filter((target) => target !== undefined);
}
