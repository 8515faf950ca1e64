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

/** Installs the plugin and its network configuration. */
export async function installPlugin({ binDirectory, configDirectory }: CniDirectories, settings: PluginSettings): Promise<void> {
  await mkdir(binDirectory, { recursive: true });
  await mkdir(configDirectory, { recursive: true });
  const program = (process.arch === PROGRAM_ARCHITECTURE ? pluginProgram(settings) : undefined) ?? pluginText(settings, process.execPath);
  for (const name of PLUGIN_NAMES) await replaceFile(path.join(binDirectory, name), program, 0o755);
  await replaceFile(path.join(configDirectory, CONFIG_FILE), `${JSON.stringify(CNI_CONFIG, undefined, 2)}\n`, 0o644);
}

/** Removes our files only. */
export async function removePlugin(directories: CniDirectories): Promise<void> {
  await removeConfiguration(directories);
  for (const name of PLUGIN_NAMES) await rm(path.join(directories.binDirectory, name), { force: true });
}

export async function removeConfiguration({ configDirectory }: CniDirectories): Promise<void> {
  await rm(path.join(configDirectory, CONFIG_FILE), { force: true });
}

/** The file name of a network configuration that is not ours; it takes precedence. */
export async function otherConfiguration({ configDirectory }: CniDirectories): Promise<string | undefined> {
  await mkdir(configDirectory, { recursive: true });
  const names = await readdir(configDirectory);
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
