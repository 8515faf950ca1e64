import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PROGRAM_ARCHITECTURE, pluginProgram } from './plugin-program.ts';
import { type PluginSettings, runPlugin } from './run-plugin.ts';

export interface CniDirectories {
  /** The runtime's plugin directory. */
  readonly binDirectory: string;
  /** The runtime's network configuration directory. */
  readonly configDirectory: string;
}

/** `loopback` is called by containerd before 2.0 for each pod. */
const PLUGIN_NAMES = ['sampan-cni', 'loopback'];
export const CONFIG_FILE = '10-sampan.conflist';
const NETWORK_NAME = 'sampan';
const CONFIG_EXTENSIONS = ['.conf', '.conflist', '.json'];

/** The conflist that makes a runtime call the plugin. */
export const CNI_CONFIG = {
  cniVersion: '1.0.0',
  name: NETWORK_NAME,
  plugins: [{ type: 'sampan-cni', capabilities: { portMappings: true, bandwidth: true } }],
};

/**
 * Installs the plugin, and our network configuration unless another one exists. Returns the name of that other configuration: it
 * takes precedence, and ours is removed.
 */
export async function installPlugin(directories: CniDirectories, settings: PluginSettings): Promise<string | undefined> {
  const { binDirectory, configDirectory } = directories;
  await mkdir(binDirectory, { recursive: true });
  await mkdir(configDirectory, { recursive: true });
  const other = await otherConfiguration(configDirectory);
  const config = path.join(configDirectory, CONFIG_FILE);
  if (other !== undefined) {
    await rm(config, { force: true });
    return other;
  }
  const program = (process.arch === PROGRAM_ARCHITECTURE ? pluginProgram(settings) : undefined) ?? pluginText(settings, process.execPath);
  for (const name of PLUGIN_NAMES) await replaceFile(path.join(binDirectory, name), program, 0o755);
  await replaceFile(config, `${JSON.stringify(CNI_CONFIG, undefined, 2)}\n`, 0o644);
  return undefined;
}

/** Removes our files only. */
export async function removePlugin({ binDirectory, configDirectory }: CniDirectories): Promise<void> {
  await rm(path.join(configDirectory, CONFIG_FILE), { force: true });
  for (const name of PLUGIN_NAMES) await rm(path.join(binDirectory, name), { force: true });
}

async function otherConfiguration(directory: string): Promise<string | undefined> {
  const names = await readdir(directory);
  return names.sort().find((name) => name !== CONFIG_FILE && CONFIG_EXTENSIONS.includes(path.extname(name)));
}

/** A self-contained program: the runtime executes it without this package. */
export function pluginText(settings: PluginSettings, nodePath: string): string {
  const host = "{ fs: require('node:fs'), net: require('node:net'), timers: require('node:timers'), process }";
  return `#!${nodePath}\n(${runPlugin.toString()})(${host}, ${JSON.stringify(settings)});\n`;
}

async function replaceFile(file: string, text: string | Buffer, mode: number): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { mode });
  await chmod(temporary, mode);
  await rename(temporary, file);
}
