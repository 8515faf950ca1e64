import { realClock } from '#base';
import type { RuntimeSite } from '#cluster';
import { directoryOf, type LocationOptions } from './cluster-location.ts';
import type { CliContext } from './context.ts';

/** This machine and the cluster's data directory. */
export function runtimeSite(options: LocationOptions, context: CliContext): RuntimeSite {
  return {
    dataDirectory: directoryOf(options, context).root,
    searchPath: context.env.PATH ?? '',
    isRoot: process.getuid?.() === 0,
    platform: process.platform,
    arch: process.arch,
    clock: realClock,
  };
}
