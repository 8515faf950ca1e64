import path from 'node:path';
import { type Fields, fieldsOfKind, isJsonObject, type JsonValue, parseYaml, StrictConfigurationReader } from '#machinery';
import type { EventLimit } from '../plugins/event-rate-limit.ts';
import type { ImagePolicy } from '../plugins/image-policy-webhook.ts';
import type { NodeSelectors } from '../plugins/pod-node-selector.ts';
import type { PodSecurityConfiguration } from '../plugins/pod-security/pod-security-configuration.ts';
import type { TolerationRestriction } from '../plugins/pod-toleration-restriction.ts';
import { readEventLimits } from './event-limits.ts';
import { readImagePolicy } from './image-policy.ts';
import { readNodeSelectors } from './node-selectors.ts';
import { readPodSecurity } from './pod-security.ts';
import { readTolerationRestriction } from './toleration-restriction.ts';

/** What an AdmissionConfiguration says about each plugin. */
export interface PluginConfigurations {
  readonly EventRateLimit?: readonly EventLimit[];
  readonly ImagePolicyWebhook?: ImagePolicy;
  readonly PodNodeSelector?: NodeSelectors;
  readonly PodSecurity?: PodSecurityConfiguration;
  readonly PodTolerationRestriction?: TolerationRestriction;
}

export interface ConfigurationFile {
  readonly path: string;
  /** Throws when there is no such file. */
  readonly read: (path: string) => string;
}

const VERSIONS = ['apiserver.config.k8s.io/v1', 'apiserver.k8s.io/v1alpha1'];

const READERS: ReadonlyMap<string, (value: JsonValue | undefined, file: ConfigurationFile) => unknown> = new Map<
  string,
  (value: JsonValue | undefined, file: ConfigurationFile) => unknown
>([
  ['EventRateLimit', readEventLimits],
  ['ImagePolicyWebhook', readImagePolicy],
  ['PodNodeSelector', readNodeSelectors],
  ['PodSecurity', readPodSecurity],
  ['PodTolerationRestriction', readTolerationRestriction],
]);

/** Reads an AdmissionConfiguration, and the files that it names. */
export function readAdmissionConfiguration(file: ConfigurationFile): PluginConfigurations {
  const { value } = parseYaml(Buffer.from(file.read(file.path)));
  const legacy = legacyConfigurations(value, file);
  if (legacy !== undefined) return legacy;
  const reader = new AdmissionReader();
  const plugins = reader.plugins(fieldsOfKind(value, 'AdmissionConfiguration', VERSIONS));
  reader.throwIfInvalid();
  // Of two entries for one plugin the first counts.
  return Object.fromEntries(plugins.toReversed().map((plugin) => [plugin.name, readPlugin(plugin, file)]));
}

/** The form of the file before there was an AdmissionConfiguration. */
function legacyConfigurations(value: JsonValue | undefined, file: ConfigurationFile): PluginConfigurations | undefined {
  if (!isJsonObject(value) || value.kind !== undefined) return undefined;
  const { imagePolicy, podNodeSelectorPluginConfig } = value;
  if (imagePolicy === undefined && podNodeSelectorPluginConfig === undefined) return undefined;
  return {
    ...(imagePolicy !== undefined && { ImagePolicyWebhook: readImagePolicy(value, file) }),
    ...(podNodeSelectorPluginConfig !== undefined && { PodNodeSelector: readNodeSelectors(value) }),
  };
}

interface PluginEntry {
  readonly name: string;
  readonly path: string;
  readonly configuration: JsonValue | undefined;
}

class AdmissionReader extends StrictConfigurationReader {
  plugins(fields: Fields): readonly PluginEntry[] {
    this.rejectUnknownFields(fields, ['apiVersion', 'kind', 'plugins'], '');
    return this.list(fields.plugins, 'plugins').map((value, i) => this.#plugin(value, `plugins[${i}]`));
  }

  #plugin(value: unknown, at: string): PluginEntry {
    const fields = this.object(value, at);
    this.rejectUnknownFields(fields, ['name', 'path', 'configuration'], at);
    const configuration = fields.configuration as JsonValue | undefined;
    return { name: this.text(fields.name, `${at}.name`, ''), path: this.text(fields.path, `${at}.path`, ''), configuration };
  }
}

function readPlugin({ name, path: named, configuration }: PluginEntry, file: ConfigurationFile): unknown {
  const read = READERS.get(name);
  if (read === undefined) throw new Error(`the plugin '${name}' takes no configuration; these do: ${[...READERS.keys()].join(', ')}`);
  const own = named === '' ? file.path : path.resolve(path.dirname(file.path), named);
  try {
    const value = configuration ?? (named === '' ? undefined : parseYaml(Buffer.from(file.read(own))).value);
    return read(value, { ...file, path: own });
  } catch (error) {
    throw new Error(`the configuration of ${name} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
