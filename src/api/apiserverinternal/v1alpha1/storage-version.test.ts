import { expect, test } from 'vitest';
import { storageVersionBehaviour } from './storage-version.behaviour.ts';
import type { StorageVersionStatus } from './storage-version.ts';

const versions = storageVersionBehaviour as Required<typeof storageVersionBehaviour>;
const version = (status: StorageVersionStatus, name = 'apps.deployments') => ({ metadata: { name }, status });
const server = { apiServerID: 's1', encodingVersion: 'apps/v1', decodableVersions: ['apps/v1'] };

test.each([
  ['apps.deployments', []],
  ['deployments', ['metadata.name: Invalid value: "deployments": name must be in the form of <group>.<resource>']],
])('a storage version is named after group and resource: %s', (name, errors) => {
  expect(versions.validate(version({}, name)).map(String)).toEqual(errors);
});

test.each<[StorageVersionStatus, readonly string[]]>([
  [{ storageVersions: [server], commonEncodingVersion: 'apps/v1' }, []],
  [{ storageVersions: [server] }, ['status.commonEncodingVersion: Invalid value: null: the common encoding version is apps/v1']],
  [
    { storageVersions: [server, { ...server, servedVersions: ['apps/v2'] }], commonEncodingVersion: 'apps/v2' },
    [
      'status.storageVersions[1].apiServerID: Duplicate value: "s1"',
      'status.storageVersions[1].servedVersions[0]: Invalid value: "apps/v2": individual served version : apps/v2 must be included in decodableVersions : [apps/v1]',
      'status.commonEncodingVersion: Invalid value: "apps/v2": the actual common encoding version is apps/v1',
    ],
  ],
  [
    { storageVersions: [{ apiServerID: 's1', encodingVersion: '/', decodableVersions: [] }], commonEncodingVersion: '/' },
    [
      'status.storageVersions[0].encodingVersion: Invalid value: "/": group part: must be non-empty,version part: must be non-empty',
      'status.storageVersions[0].decodableVersions: Invalid value: []: decodableVersions must include encodingVersion /',
    ],
  ],
])('the servers agree: %j', (status, errors) => {
  expect(versions.validateStatusUpdate(version(status), version({})).map(String)).toEqual(errors);
});

test('the table of StorageVersions shows the encoding versions of servers', () => {
  expect(versions.table.cells(version({ storageVersions: [server] }), 0)).toEqual([
    'apps.deployments',
    '<unset>',
    's1=apps/v1',
    '<unknown>',
  ]);
});
