import { isJsonObject } from '#machinery';
import { CNI_CODES, CniError } from './cni-error.ts';

export const CNI_VERSIONS = ['0.3.1', '0.4.0', '1.0.0', '1.1.0'];
export const CNI_COMMANDS = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS', 'VERSION'] as const;
export type CniCommand = (typeof CNI_COMMANDS)[number];

export interface PortMapping {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** Absent: all addresses of the node. */
  readonly hostIp?: string;
}

/** In bits and bits per second, as in the CNI conventions. */
export interface Bandwidth {
  readonly ingressRate?: number;
  readonly ingressBurst?: number;
  readonly egressRate?: number;
  readonly egressBurst?: number;
}

export interface AttachmentKey {
  readonly containerId: string;
  readonly ifName: string;
}

export interface CniRequest extends AttachmentKey {
  readonly command: CniCommand;
  readonly cniVersion: string;
  /** `loopback` for the pod's lo interface. */
  readonly pluginType: string;
  readonly netns: string;
  readonly args: ReadonlyMap<string, string>;
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth: Bandwidth;
  /** GC: the attachments that the runtime still has. */
  readonly validAttachments: readonly AttachmentKey[];
}

type Fields = Readonly<Record<string, unknown>>;

const CONTAINER_ID = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/;
/** The kernel's rule: at most 15 characters, no white space, slash or colon. */
const INTERFACE_NAME = /^[^\s/:]{1,15}$/;
const NETNS = /^\/[\w./:@-]+$/;
/** In characters. The runtime's own environment comes with the request. */
const MAX_ENVIRONMENT = 1 << 20;
const MAX_VARIABLES = 10_000;

/** Parses the plugin's request: the NUL-terminated environment, an empty string, and the network configuration. */
export function readCniRequest(request: string): CniRequest {
  const end = request.startsWith('\0') ? 0 : request.indexOf('\0\0') + 1;
  if (end === 0 && !request.startsWith('\0')) throw decodeFailure('the request has no environment');
  const text = request.slice(end + 1);
  const variables = end > MAX_ENVIRONMENT ? [] : request.slice(0, end).split('\0', MAX_VARIABLES);
  if (end > MAX_ENVIRONMENT || variables.length === MAX_VARIABLES) throw decodeFailure('the environment is too large');
  const env: Record<string, string> = Object.fromEntries(variables.map(variable));
  const command = oneOfCommands(env.CNI_COMMAND);
  const config = command === 'VERSION' && text.trim() === '' ? {} : parse(text, 'the network configuration');
  const cniVersion = versionOf(config, command);
  return { ...environment(env, command), command, cniVersion, ...fromConfig(config, command) };
}

function variable(text: string): readonly [string, string] {
  const equals = text.indexOf('=');
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function parse(text: string, source: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CniError(CNI_CODES.decodeFailure, `${source} is no JSON`, (cause as Error).message, { cause });
  }
  if (!isJsonObject(value as never)) throw decodeFailure(`${source} is no JSON object`);
  return value as Fields;
}

function decodeFailure(message: string): CniError {
  return new CniError(CNI_CODES.decodeFailure, message);
}

function oneOfCommands(value: unknown): CniCommand {
  if (!CNI_COMMANDS.includes(value as CniCommand)) throw invalidEnvironment('CNI_COMMAND', value);
  return value as CniCommand;
}

function invalidEnvironment(name: string, value: unknown): CniError {
  const written = value === undefined ? 'is missing' : `is ${JSON.stringify(value).slice(0, 200)}`;
  return new CniError(CNI_CODES.invalidEnvironment, `invalid environment variable ${name}`, `${name} ${written}`);
}

function versionOf(config: Fields, command: CniCommand): string {
  const { cniVersion = command === 'VERSION' ? '1.0.0' : '0.1.0' } = config;
  if (typeof cniVersion === 'string' && (CNI_VERSIONS.includes(cniVersion) || command === 'VERSION')) return cniVersion;
  throw new CniError(
    CNI_CODES.incompatibleVersion,
    'incompatible CNI versions',
    `the configuration asks for ${JSON.stringify(cniVersion)}, the plugin knows ${CNI_VERSIONS.join(', ')}`,
  );
}

type FromEnvironment = Pick<CniRequest, 'containerId' | 'ifName' | 'netns' | 'args'>;

function environment(env: Fields, command: CniCommand): FromEnvironment {
  const needed: Readonly<Record<string, readonly CniCommand[]>> = {
    CNI_CONTAINERID: ['ADD', 'DEL', 'CHECK'],
    CNI_IFNAME: ['ADD', 'DEL', 'CHECK'],
    CNI_NETNS: ['ADD', 'CHECK'],
  };
  const read = (name: string, form: RegExp) => {
    const value = env[name] ?? '';
    const isNeeded = needed[name]?.includes(command) ?? false;
    const isValid = value === '' ? !isNeeded : typeof value === 'string' && form.test(value);
    if (!isValid) throw invalidEnvironment(name, env[name]);
    return value as string;
  };
  return {
    containerId: read('CNI_CONTAINERID', CONTAINER_ID),
    ifName: read('CNI_IFNAME', INTERFACE_NAME),
    netns: read('CNI_NETNS', NETNS),
    args: argsOf(env.CNI_ARGS),
  };
}

function argsOf(value: unknown): ReadonlyMap<string, string> {
  if (value === undefined || value === '') return new Map();
  if (typeof value !== 'string') throw invalidEnvironment('CNI_ARGS', value);
  const pairs = value.split(';').map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    if (equals <= 0) throw invalidEnvironment('CNI_ARGS', value);
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
  return new Map(pairs);
}

type FromConfig = Pick<CniRequest, 'pluginType' | 'portMappings' | 'bandwidth' | 'validAttachments'>;

/** Only ADD uses the runtime configuration: DEL must always succeed. */
function fromConfig(config: Fields, command: CniCommand): FromConfig {
  const runtimeConfig = command === 'ADD' ? objectIn(config, 'runtimeConfig') : {};
  return {
    pluginType: typeof config.type === 'string' ? config.type : '',
    portMappings: listIn(runtimeConfig, 'portMappings')
      .map(portMapping)
      .filter((mapping) => mapping.hostPort !== 0),
    bandwidth: bandwidth(objectIn(runtimeConfig, 'bandwidth')),
    validAttachments: listIn(config, 'cni.dev/valid-attachments').map(attachment),
  };
}

function invalidConfig(field: string, value: unknown): CniError {
  return new CniError(CNI_CODES.invalidConfig, 'invalid network configuration', `${field} is ${JSON.stringify(value)?.slice(0, 200)}`);
}

function objectIn(fields: Fields, name: string): Fields {
  const value = fields[name] ?? {};
  if (!isJsonObject(value as never)) throw invalidConfig(name, value);
  return value as Fields;
}

function listIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name] ?? [];
  if (!Array.isArray(value) || !value.every((item) => isJsonObject(item))) throw invalidConfig(name, value);
  return value;
}

const PROTOCOLS = ['tcp', 'udp', 'sctp'] as const;

/** containerd sends these fields with capitalized names. */
function withoutCase(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}

function portMapping(written: Fields): PortMapping {
  const fields = withoutCase(written);
  const protocol = typeof fields.protocol === 'string' && fields.protocol !== '' ? fields.protocol.toLowerCase() : 'tcp';
  const isPort = (value: unknown, min: number) => Number.isInteger(value) && (value as number) >= min && (value as number) <= 65_535;
  const isSupported = PROTOCOLS.includes(protocol as PortMapping['protocol']);
  const { hostip: hostIP = '' } = fields;
  const isWhole = isPort(fields.hostport, 0) && isPort(fields.containerport, 1) && typeof hostIP === 'string' && isSupported;
  if (!isWhole) throw invalidConfig('runtimeConfig.portMappings', written);
  const ports = { hostPort: fields.hostport as number, containerPort: fields.containerport as number };
  const everywhere = hostIP === '' || hostIP === '0.0.0.0' || hostIP === '::';
  return { ...ports, protocol: protocol as PortMapping['protocol'], ...(!everywhere && { hostIp: hostIP as string }) };
}

const RATES = ['ingressRate', 'ingressBurst', 'egressRate', 'egressBurst'] as const;

function bandwidth(written: Fields): Bandwidth {
  const fields = withoutCase(written);
  const rates: Partial<Record<(typeof RATES)[number], number>> = {};
  for (const name of RATES) {
    const value = fields[name.toLowerCase()];
    if (value === undefined || value === 0) continue;
    if (typeof value !== 'number' || !(value > 0)) throw invalidConfig(`runtimeConfig.bandwidth.${name}`, value);
    rates[name] = value;
  }
  return rates;
}

function attachment(fields: Fields): AttachmentKey {
  const { containerID, ifname } = fields;
  if (typeof containerID !== 'string' || typeof ifname !== 'string') throw invalidConfig('cni.dev/valid-attachments', fields);
  return { containerId: containerID, ifName: ifname };
}
