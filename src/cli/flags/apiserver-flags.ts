import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type AuthorizationMode, DEFAULT_SERVICES, parseTokenFile } from '#apiserver';
import type { ApiServerSettings } from '#cluster';
import { booleanValue, type FlagTable, listValue, oneOf } from './flag-table.ts';

const MODES: readonly AuthorizationMode[] = ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'];

/** Flags of upstream's API server that mean the same wherever it runs. */
export const APISERVER_FLAGS: FlagTable<ApiServerSettings> = {
  'advertise-address': {
    value: 'address',
    help: 'under which address others reach the server',
    apply: (s, value) => ({ ...s, advertiseAddress: value }),
  },
  'anonymous-auth': {
    value: 'bool',
    help: 'whether requests without credentials are anonymous',
    apply: (s, value) => ({ ...s, anonymousAuth: booleanValue(value) }),
  },
  'authorization-mode': {
    value: 'modes',
    help: 'authorizers, in order, separated by commas',
    apply: (s, value) => ({ ...s, authorizationModes: listValue(value).map((mode) => oneOf(mode, MODES)) }),
  },
  'service-account-issuer': {
    value: 'url',
    help: 'the issuer of service account tokens',
    apply: (s, value) => ({ ...s, serviceAccountIssuer: value }),
  },
  'service-cluster-ip-range': {
    value: 'ranges',
    help: 'ranges of service addresses, one or one of each family',
    apply: (s, value) => ({ ...s, services: { ...(s.services ?? DEFAULT_SERVICES), clusterIpRanges: listValue(value) } }),
  },
  'service-node-port-range': {
    value: 'first-last',
    help: 'the range of node ports',
    apply: (s, value) => ({ ...s, services: { ...(s.services ?? DEFAULT_SERVICES), nodePortRange: portRange(value) } }),
  },
  'token-auth-file': {
    value: 'file',
    help: 'a file of lines token,user,uid,"group1,group2"',
    apply: (s, value, { cwd }) => ({ ...s, staticTokens: parseTokenFile(readFileSync(path.resolve(cwd, value), 'utf8')) }),
  },
};

function portRange(value: string): { first: number; last: number } {
  const [, first = '', last = ''] = /^(\d+)-(\d+)$/.exec(value) ?? [];
  if (first === '' || Number(first) > Number(last) || Number(last) > 65535) throw new Error(`'${value}' is no range of ports`);
  return { first: Number(first), last: Number(last) };
}
