/** Sorted, unique CPU numbers. */
export type CpuSet = readonly number[];

/** Parses the kernel's and upstream's format: `0-3,8`. Throws a TypeError when malformed. */
export function parseCpuSet(text: string): CpuSet {
  const cpus = new Set<number>();
  for (const part of text.trim().split(',')) {
    if (part === '' && text.trim() === '') break;
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
    if (first === undefined || Number(last) < Number(first))
      throw new TypeError(`${JSON.stringify(text)} is no set of processors, as in 0-3,8`);
    for (let cpu = Number(first); cpu <= Number(last); cpu++) cpus.add(cpu);
  }
  return sorted(cpus);
}

export function formatCpuSet(cpus: CpuSet): string {
  const ranges: [number, number][] = [];
  for (const cpu of cpus) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === cpu - 1) last[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join();
}

export function union(sets: readonly CpuSet[]): CpuSet {
  return sorted(new Set(sets.flat()));
}

export function difference(from: CpuSet, subtrahend: CpuSet): CpuSet {
  const without = new Set(subtrahend);
  return from.filter((cpu) => !without.has(cpu));
}

export function intersection(a: CpuSet, b: CpuSet): CpuSet {
  const both = new Set(b);
  return a.filter((cpu) => both.has(cpu));
}

function sorted(cpus: Iterable<number>): CpuSet {
  return [...cpus].sort((a, b) => a - b);
}
