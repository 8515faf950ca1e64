import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import path from 'node:path';
import type { Logger } from '#base';
import {
  ConfigurationError,
  type ConfigurationFile,
  configurationProblems,
  ineffectiveFields,
  type KubeletConfiguration,
  type ReadConfiguration,
  readConfiguration,
  withDefaults,
} from '#kubelet';
import type { CliContext } from './context.ts';
import type { LoggingFlags } from './flags/common-flags.ts';
import { UsageError } from './usage-error.ts';

export interface ConfigurationFlags {
  readonly config?: string;
  readonly configDir?: string;
}

/** Reads `--config` and the drop-ins of `--config-dir`. */
export function configurationFrom({ config, configDir }: ConfigurationFlags, { cwd }: CliContext): ReadConfiguration {
  try {
    const file = config === undefined ? undefined : fileAt(path.resolve(cwd, config));
    return readConfiguration(file, configDir === undefined ? [] : dropIns(path.resolve(cwd, configDir)));
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(error.message);
    throw error;
  }
}

/** `logging`, as flags set it. */
export function loggingOfConfiguration({ logging }: KubeletConfiguration): LoggingFlags {
  const { format, verbosity } = logging ?? {};
  return { ...(format && { loggingFormat: format }), ...(verbosity !== undefined && { v: String(verbosity) }) };
}

function fileAt(file: string): ConfigurationFile {
  try {
    return { path: file, text: readFileSync(file, 'utf8') };
  } catch (error) {
    const reason = `failed to read kubelet config file "${file}", error: ${(error as Error).message}`;
    throw new UsageError(`failed to load kubelet config file, path: ${file}, error: ${reason}`);
  }
}

/** `.conf` files of the directory, recursively, sorted by path. */
function dropIns(directory: string): readonly ConfigurationFile[] {
  try {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const files = entries.map((entry) => path.join(entry.parentPath, entry.name)).filter((file) => file.endsWith('.conf'));
    return files.sort().map(fileAt);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `failed to merge kubelet configs: failed to walk through kubelet dropin directory "${directory}": ${(error as Error).message}`,
    );
  }
}

const CGROUP_MOUNT = '/sys/fs/cgroup';
const CGROUP2_MAGIC = 0x63677270;

/** Throws a UsageError with all validation errors, and logs fields without an effect. */
export function checkConfiguration(configuration: KubeletConfiguration, logger: Pick<Logger, 'warn'>): void {
  const cgroupVersion = existsSync(CGROUP_MOUNT) && statfsSync(CGROUP_MOUNT).type !== CGROUP2_MAGIC ? 1 : 2;
  const problems = configurationProblems(withDefaults(configuration), { cgroupVersion });
  if (problems.length > 0) {
    const text = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
    throw new UsageError(`failed to validate kubelet configuration, error: ${text}`);
  }
  for (const sentence of ineffectiveFields(configuration)) logger.warn(sentence);
}
