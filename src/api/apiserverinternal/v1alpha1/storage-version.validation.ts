import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkQualifiedName,
  type FieldError,
  nameIsDnsSubdomain,
  Path,
  type Problems,
  regexText,
} from '#machinery';
import { FieldReport } from '../../field-report.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import type { ServerStorageVersion, StorageVersion, StorageVersionStatus } from './storage-version.ts';

const META = { namespaced: false, nameRule: storageVersionName };
const STATUS = Path.of('status');

export function validateStorageVersion({ metadata, status }: StorageVersion): FieldError[] {
  return [...validateObjectMeta(metadata, META), ...validateStatus(status ?? {})];
}

export function validateStorageVersionStatus({ status }: StorageVersion): FieldError[] {
  return validateStatus(status ?? {});
}

function storageVersionName(name: string): Problems {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...checkDns1123Subdomain(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...checkDns1035Label(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
}

function validateStatus(status: StorageVersionStatus): FieldError[] {
  const at = FieldReport.on(STATUS);
  const servers = new Set<string | undefined>();
  for (const [i, server] of (status.storageVersions ?? []).entries()) {
    const item = at.child('storageVersions').index(i);
    if (servers.has(server.apiServerID)) item.child('apiServerID').duplicate(server.apiServerID);
    servers.add(server.apiServerID);
    validateServer(server, item);
  }
  validateCommonVersion(status, at.child('commonEncodingVersion'));
  validateConditions(status.conditions ?? [], at);
  return at.errors;
}

function validateServer(server: ServerStorageVersion, at: FieldReport): void {
  const { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions = [] } = server;
  at.child('apiServerID').problems(apiServerID, nameIsDnsSubdomain(apiServerID, false));
  checkVersion(encodingVersion, at.child('encodingVersion'));
  for (const [i, version] of decodableVersions.entries()) checkVersion(version, at.child('decodableVersions').index(i));
  if (!decodableVersions.includes(encodingVersion)) {
    at.child('decodableVersions').invalid(decodableVersions, `decodableVersions must include encodingVersion ${encodingVersion}`);
  }
  const decodable = new Set(decodableVersions);
  for (const [i, version] of servedVersions.entries()) {
    const item = at.child('servedVersions').index(i);
    checkVersion(version, item);
    if (decodable.has(version)) continue;
    const all = `[${decodableVersions.join(' ')}]`;
    item.invalid(version, `individual served version : ${version} must be included in decodableVersions : ${all}`);
  }
}

function checkVersion(version: string, at: FieldReport): void {
  const problems = apiVersionProblems(version);
  if (problems.length > 0) at.invalid(version, problems.join(','));
}

const LABEL_RULE = regexText(
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  'my-name',
  'abc-123',
);

function apiVersionProblems(apiVersion: string): Problems {
  const parts = apiVersion.split('/');
  if (parts.length > 2)
    return [`an apiVersion is ${LABEL_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`];
  const version = parts.at(-1) ?? '';
  const group = parts.length === 2 ? parts[0] : undefined;
  return [
    ...(group === undefined ? [] : partProblems('group', group, checkDns1123Subdomain)),
    ...partProblems('version', version, checkDns1035Label),
  ];
}

function partProblems(part: string, value: string, check: (value: string) => Problems): Problems {
  const problems = value === '' ? ['must be non-empty'] : check(value);
  return problems.map((problem) => `${part} part: ${problem}`);
}

function validateCommonVersion({ storageVersions = [], commonEncodingVersion: common }: StorageVersionStatus, at: FieldReport): void {
  const versions = new Set(storageVersions.map(({ encodingVersion = '' }) => encodingVersion));
  const actual = versions.size === 1 ? [...versions][0] : undefined;
  if (actual === common) return;
  if (actual === undefined) {
    at.invalid(
      common,
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
    );
  } else if (common === undefined) at.invalid(null, `the common encoding version is ${actual}`);
  else at.invalid(common, `the actual common encoding version is ${actual}`);
}

/** The paths lack `conditions`, as upstream's do. */
function validateConditions(conditions: NonNullable<StorageVersionStatus['conditions']>, at: FieldReport): void {
  const places = new Map<string, number>();
  for (const [i, { type = '', status = '', reason, message }] of conditions.entries()) {
    const item = at.index(i);
    const first = places.get(type);
    if (first !== undefined) {
      item.child('type').invalid(type, `the type of the condition is not unique, it also appears in conditions[${first}]`);
    }
    places.set(type, i);
    item.child('type').problems(type, checkQualifiedName(type));
    item.child('status').problems(status, checkQualifiedName(status));
    if (!reason) item.child('reason').required();
    if (!message) item.child('message').required();
  }
}
