import type { CpuManagerOptions } from './cpu-manager.ts';

const OPTIONS = new Set<string>([
  'full-pcpus-only',
  'distribute-cpus-across-numa',
  'distribute-cpus-across-cores',
  'strict-cpu-reservation',
] satisfies (keyof CpuManagerOptions)[]);

/** Parses `cpuManagerPolicyOptions`. Throws a TypeError on unknown options and non-boolean values. */
export function parseCpuManagerOptions(pairs: Readonly<Record<string, string>>): CpuManagerOptions {
  const entries = Object.entries(pairs).map(([name, text]) => {
    if (!OPTIONS.has(name)) throw new TypeError(`unsupported cpumanager option: ${JSON.stringify(name)} (${text})`);
    if (text !== 'true' && text !== 'false')
      throw new TypeError(`bad value for option ${JSON.stringify(name)}: ${text} is neither true nor false`);
    return [name, text === 'true'] as const;
  });
  const options: CpuManagerOptions = Object.fromEntries(entries);
  if (options['distribute-cpus-across-cores'] && (options['full-pcpus-only'] || options['distribute-cpus-across-numa']))
    throw new TypeError(
      'static policy options full-pcpus-only and distribute-cpus-across-numa can not be used with distribute-cpus-across-cores',
    );
  return options;
}
