import { dirname, isAbsolute, join } from 'node:path';
import { applyMergePatch, decodeObject, isJsonObject, type JsonObject, parseYaml } from '#machinery';
import { KUBELET_CONFIGURATION_VERSION, KubeletConfiguration } from './kubelet-configuration.ts';

/** A configuration file, with its path for error messages. */
export interface ConfigurationFile {
  readonly path: string;
  readonly text: string;
}

export interface ReadConfiguration {
  readonly configuration: KubeletConfiguration;
  /** Warnings, such as unknown fields, which upstream tolerates too. */
  readonly warnings: readonly string[];
}

/** With upstream's message. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Reads `--config`, if there is one, and the drop-ins of `--config-dir` over it, in order. Throws a ConfigurationError. */
export function readConfiguration(file: ConfigurationFile | undefined, dropIns: readonly ConfigurationFile[] = []): ReadConfiguration {
  const warnings: string[] = [];
  let merged: JsonObject = file === undefined ? {} : baseOf(file, warnings);
  for (const dropIn of dropIns) merged = applyMergePatch(merged, dropInOf(dropIn));
  const { object, error } = decodeObject(KubeletConfiguration, merged);
  if (error !== undefined) throw new ConfigurationError(`failed to unmarshal merged JSON into kubelet configuration: ${error}`);
  return { configuration: object as KubeletConfiguration, warnings };
}

function baseOf(file: ConfigurationFile, warnings: string[]): JsonObject {
  const failed = (reason: string) => new ConfigurationError(`failed to load kubelet config file, path: ${file.path}, error: ${reason}`);
  if (file.text === '') throw failed(`kubelet config file "${file.path}" was empty`);
  const value = documentOf(file.text, (reason) => failed(`failed to decode: ${reason}`));
  checkKind(value, (reason) => failed(`failed to decode: ${reason}`));
  const { object, error, problems } = decodeObject(KubeletConfiguration, value);
  if (error !== undefined) throw failed(`failed to decode: ${error}`);
  if (problems.length > 0) warnings.push(`Using lenient decoding as strict decoding failed: strict decoding error: ${problems.join(', ')}`);
  return withAbsolutePaths(object as KubeletConfiguration, dirname(file.path)) as JsonObject;
}

function dropInOf(file: ConfigurationFile): JsonObject {
  const failed = (reason: string) => new ConfigurationError(`failed to load kubelet dropin file, path: ${file.path}, ${reason}`);
  if (file.text === '') throw failed(`error: kubelet config file "${file.path}" was empty`);
  const value = documentOf(file.text, (reason) => failed(`error: ${reason}`));
  if (!value.apiVersion || !value.kind) throw failed('no apiVersion/kind');
  if (value.apiVersion !== KUBELET_CONFIGURATION_VERSION || value.kind !== 'KubeletConfiguration')
    throw failed(`unknown apiVersion/kind: ${value.apiVersion}, Kind=${value.kind}`);
  return value;
}

function documentOf(text: string, failed: (reason: string) => Error): JsonObject {
  try {
    const { value } = parseYaml(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw failed((error as Error).message);
  }
  throw failed("couldn't get version/kind; json parse error: not an object");
}

function checkKind({ apiVersion, kind }: JsonObject, failed: (reason: string) => Error): void {
  if (!kind) throw failed(`Object 'Kind' is missing`);
  if (apiVersion === KUBELET_CONFIGURATION_VERSION && kind === 'KubeletConfiguration') return;
  throw failed(`no kind "${kind}" is registered for version "${apiVersion ?? ''}"`);
}

const PATHS = ['staticPodPath', 'tlsCertFile', 'tlsPrivateKeyFile', 'resolvConf', 'volumePluginDir', 'podLogsDir'] as const;

/** Paths in a file are relative to it. */
function withAbsolutePaths(config: KubeletConfiguration, directory: string): KubeletConfiguration {
  const absolute = (path: string) => (path === '' || isAbsolute(path) ? path : join(directory, path));
  const set = PATHS.filter((name) => config[name] !== undefined);
  const { authentication } = config;
  const clientCAFile = authentication?.x509?.clientCAFile;
  return {
    ...config,
    ...Object.fromEntries(set.map((name) => [name, absolute(config[name] ?? '')])),
    ...(clientCAFile && { authentication: { ...authentication, x509: { clientCAFile: absolute(clientCAFile) } } }),
  };
}
