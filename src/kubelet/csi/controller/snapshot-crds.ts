import { apiextensions } from '#api';
import type { Clock } from '#base';
import type { Client } from '#client';
import { ignoreError } from './driver-controller.ts';

const GROUP = 'snapshot.storage.k8s.io';
const TEXT = { type: 'string' };
const NUMBER = { type: 'integer', format: 'int64' };
const MAP = { type: 'object', additionalProperties: TEXT };
const POLICY = { type: 'string', enum: ['Delete', 'Retain'] };
const ERROR = { type: 'object', properties: { message: TEXT, time: { type: 'string', format: 'date-time' } } };
const QUANTITY_PATTERN =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

function immutable(name: string): object {
  return { ...TEXT, 'x-kubernetes-validations': [{ message: `${name} is immutable`, rule: 'self == oldSelf' }] };
}

/** Exactly one of two immutable fields. */
function eitherOf(first: string, second: string): object {
  const stays = (name: string) => ({ message: `${name} is required once set`, rule: `!has(oldSelf.${name}) || has(self.${name})` });
  const rule = `(has(self.${first}) && !has(self.${second})) || (!has(self.${first}) && has(self.${second}))`;
  return {
    type: 'object',
    properties: { [first]: immutable(first), [second]: immutable(second) },
    'x-kubernetes-validations': [stays(first), stays(second), { message: `exactly one of ${first} and ${second} must be set`, rule }],
  };
}

const REFERENCE = {
  type: 'object',
  properties: Object.fromEntries(
    ['apiVersion', 'fieldPath', 'kind', 'name', 'namespace', 'resourceVersion', 'uid'].map((name) => [name, TEXT]),
  ),
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-validations': [
    {
      message: 'both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set',
      rule: 'has(self.name) && has(self.__namespace__)',
    },
  ],
};

const SNAPSHOT_SCHEMA = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['source'],
      properties: {
        source: eitherOf('persistentVolumeClaimName', 'volumeSnapshotContentName'),
        volumeSnapshotClassName: {
          ...TEXT,
          'x-kubernetes-validations': [
            { message: 'volumeSnapshotClassName must not be the empty string when set', rule: 'size(self) > 0' },
          ],
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        boundVolumeSnapshotContentName: TEXT,
        creationTime: { type: 'string', format: 'date-time' },
        error: ERROR,
        readyToUse: { type: 'boolean' },
        restoreSize: { ...TEXT, pattern: QUANTITY_PATTERN, 'x-kubernetes-int-or-string': true },
        volumeGroupSnapshotName: TEXT,
      },
    },
  },
};

const CONTENT_SCHEMA = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['deletionPolicy', 'driver', 'source', 'volumeSnapshotRef'],
      properties: {
        deletionPolicy: POLICY,
        driver: TEXT,
        source: eitherOf('volumeHandle', 'snapshotHandle'),
        sourceVolumeMode: immutable('sourceVolumeMode'),
        volumeSnapshotClassName: TEXT,
        volumeSnapshotRef: REFERENCE,
      },
      'x-kubernetes-validations': [
        { message: 'sourceVolumeMode is required once set', rule: '!has(oldSelf.sourceVolumeMode) || has(self.sourceVolumeMode)' },
      ],
    },
    status: {
      type: 'object',
      properties: {
        ...{ creationTime: NUMBER, error: ERROR, readyToUse: { type: 'boolean' }, restoreSize: { ...NUMBER, minimum: 0 } },
        ...{ snapshotHandle: TEXT, volumeGroupSnapshotHandle: TEXT },
      },
    },
  },
};

const CLASS_SCHEMA = {
  type: 'object',
  required: ['deletionPolicy', 'driver'],
  properties: { deletionPolicy: POLICY, driver: TEXT, parameters: MAP },
};

interface Definition {
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly schema: object;
  readonly hasStatus: boolean;
  /** Name, path and type of each column. */
  readonly columns: readonly (readonly [string, string, string])[];
}

const AGE = ['Age', '.metadata.creationTimestamp', 'date'] as const;

const DEFINITIONS: readonly Definition[] = [
  {
    ...{ kind: 'VolumeSnapshot', shortNames: ['vs'], scope: 'Namespaced', schema: SNAPSHOT_SCHEMA, hasStatus: true },
    columns: [
      ['ReadyToUse', '.status.readyToUse', 'boolean'],
      ['SourcePVC', '.spec.source.persistentVolumeClaimName', 'string'],
      ['SourceSnapshotContent', '.spec.source.volumeSnapshotContentName', 'string'],
      ['RestoreSize', '.status.restoreSize', 'string'],
      ['SnapshotClass', '.spec.volumeSnapshotClassName', 'string'],
      ['SnapshotContent', '.status.boundVolumeSnapshotContentName', 'string'],
      ['CreationTime', '.status.creationTime', 'date'],
      AGE,
    ],
  },
  {
    ...{ kind: 'VolumeSnapshotContent', shortNames: ['vsc', 'vscs'], scope: 'Cluster', schema: CONTENT_SCHEMA, hasStatus: true },
    columns: [
      ['ReadyToUse', '.status.readyToUse', 'boolean'],
      ['RestoreSize', '.status.restoreSize', 'integer'],
      ['DeletionPolicy', '.spec.deletionPolicy', 'string'],
      ['Driver', '.spec.driver', 'string'],
      ['VolumeSnapshotClass', '.spec.volumeSnapshotClassName', 'string'],
      ['VolumeSnapshot', '.spec.volumeSnapshotRef.name', 'string'],
      ['VolumeSnapshotNamespace', '.spec.volumeSnapshotRef.namespace', 'string'],
      AGE,
    ],
  },
  {
    ...{ kind: 'VolumeSnapshotClass', shortNames: ['vsclass', 'vsclasses'], scope: 'Cluster', schema: CLASS_SCHEMA, hasStatus: false },
    columns: [['Driver', '.driver', 'string'], ['DeletionPolicy', '.deletionPolicy', 'string'], AGE],
  },
];

function definition({ kind, shortNames, scope, schema, hasStatus, columns }: Definition): object {
  const plural = kind === 'VolumeSnapshotClass' ? 'volumesnapshotclasses' : `${kind.toLowerCase()}s`;
  return {
    metadata: {
      name: `${plural}.${GROUP}`,
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-csi/external-snapshotter/pull/814' },
    },
    spec: {
      ...{ group: GROUP, scope, names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
          ...(hasStatus && { subresources: { status: {} } }),
          additionalPrinterColumns: columns.map(([name, jsonPath, type]) => ({ name, jsonPath, type })),
        },
      ],
    },
  };
}

const POLL_MS = 100;

/** Creates the snapshot CRDs if they do not exist, and waits until they are served. */
export async function ensureSnapshotDefinitions(client: Client, clock: Clock, signal: AbortSignal): Promise<void> {
  const definitions = client.of(apiextensions.CustomResourceDefinition);
  for (const object of DEFINITIONS.map(definition)) {
    await definitions.create(object as never).catch(ignoreError('AlreadyExists'));
    const { name } = (object as { metadata: { name: string } }).metadata;
    const isEstablished = async () =>
      (await definitions.get({ name })).status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ===
      true;
    while (!(await isEstablished())) await clock.sleep(POLL_MS, signal);
  }
}
