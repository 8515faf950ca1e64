import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { type AuthorizationMode, DEFAULT_SERVICES, parseTokenFile } from '#apiserver';
import type { ApiServerSettings, ClusterConfig } from '#cluster';
import type { CliContext } from '../context.ts';
import { UsageError } from '../usage-error.ts';

export interface ComponentOptions {
  readonly apiserverArg?: readonly string[];
  readonly controllerManagerArg?: readonly string[];
}

interface Settings {
  readonly apiServer: ApiServerSettings;
  readonly controllerManager: NonNullable<ClusterConfig['controllerManager']>;
}

interface Flag {
  readonly help: string;
  apply(value: string, settings: Settings, context: CliContext): void;
}

const MODES: readonly AuthorizationMode[] = ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'];

/** Flags of upstream's API server that this one has, too. */
const APISERVER_FLAGS: Readonly<Record<string, Flag>> = {
  'advertise-address': {
    help: 'under which address others reach the server',
    apply: (value, { apiServer }) => void Object.assign(apiServer, { advertiseAddress: value }),
  },
  'anonymous-auth': {
    help: 'whether requests without credentials are anonymous',
    apply: (value, { apiServer }) => void Object.assign(apiServer, { anonymousAuth: boolean(value) }),
  },
  'authorization-mode': {
    help: 'authorizers, in order, separated by commas',
    apply: (value, { apiServer }) =>
      void Object.assign(apiServer, { authorizationModes: value.split(',').map((mode) => oneOf(mode, MODES)) }),
  },
  'service-account-issuer': {
    help: 'the issuer of service account tokens',
    apply: (value, { apiServer }) => void Object.assign(apiServer, { serviceAccountIssuer: value }),
  },
  'service-cluster-ip-range': {
    help: 'ranges of service addresses, one or one of each family',
    apply: (value, { apiServer }) =>
      void Object.assign(apiServer, { services: { ...(apiServer.services ?? DEFAULT_SERVICES), clusterIpRanges: value.split(',') } }),
  },
  'service-node-port-range': {
    help: 'the range of node ports, as FIRST-LAST',
    apply: (value, { apiServer }) =>
      void Object.assign(apiServer, { services: { ...(apiServer.services ?? DEFAULT_SERVICES), nodePortRange: portRange(value) } }),
  },
  'token-auth-file': {
    help: 'a file of lines token,user,uid,"group1,group2"',
    apply: (value, { apiServer }, { cwd }) =>
      void Object.assign(apiServer, { staticTokens: parseTokenFile(readText(path.resolve(cwd, value))) }),
  },
};

const CONTROLLER_MANAGER_FLAGS: Readonly<Record<string, Flag>> = {
  controllers: {
    help: "which controllers run: '*', 'name', '-name', separated by commas",
    apply: (value, { controllerManager }) => void Object.assign(controllerManager, { controllers: value.split(',') }),
  },
};

export function addComponentOptions(command: Command): void {
  const collect = (value: string, previous: readonly string[] = []) => [...previous, value];
  command
    .option('--apiserver-arg <name=value>', 'a flag of the API server; repeatable', collect)
    .option('--controller-manager-arg <name=value>', 'a flag of the controller manager; repeatable', collect);
}

/** Component flags, each given as `name=value` or `--name=value`, as settings of the cluster. */
export function componentSettings(options: ComponentOptions, context: CliContext): Pick<ClusterConfig, 'apiServer' | 'controllerManager'> {
  const settings: Settings = { apiServer: {}, controllerManager: {} };
  for (const arg of options.apiserverArg ?? []) applyFlag(arg, { flags: APISERVER_FLAGS, of: 'the API server', settings, context });
  for (const arg of options.controllerManagerArg ?? [])
    applyFlag(arg, { flags: CONTROLLER_MANAGER_FLAGS, of: 'the controller manager', settings, context });
  return settings;
}

interface Applying {
  readonly flags: Readonly<Record<string, Flag>>;
  readonly of: string;
  readonly settings: Settings;
  readonly context: CliContext;
}

function applyFlag(arg: string, { flags, of, settings, context }: Applying): void {
  const [, name = '', value = 'true'] = /^(?:--)?([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (flag === undefined) throw new UsageError(`${of} has no flag '${name}'`, `it has: ${Object.keys(flags).join(', ')}`);
  try {
    flag.apply(value, settings, context);
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`, flag.help);
  }
}

function boolean(value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new Error(`'${value}' is neither true nor false`);
  return value === 'true';
}

function oneOf<T extends string>(value: string, known: readonly T[]): T {
  if (!(known as readonly string[]).includes(value)) throw new Error(`'${value}' is none of ${known.join(', ')}`);
  return value as T;
}

function portRange(value: string): { first: number; last: number } {
  const [, first = '', last = ''] = /^(\d+)-(\d+)$/.exec(value) ?? [];
  if (first === '' || Number(first) > Number(last) || Number(last) > 65535) throw new Error(`'${value}' is no range of ports`);
  return { first: Number(first), last: Number(last) };
}

function readText(file: string): string {
  return readFileSync(file, 'utf8');
}
