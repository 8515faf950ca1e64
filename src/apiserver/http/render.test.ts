import { expect, test } from 'vitest';
import { autoscaling, type TableDefinition } from '#api';
import type { ListResponse, ObjectResponse } from '../handlers/api-response.ts';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import { negotiate } from '../request/negotiation.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import { ProtobufMessages } from './protobuf-messages.ts';
import { renderList, renderObject, renderPrinted } from './render.ts';
import type { TextListBody } from './text-list-body.ts';

const scale = {
  kind: 'Scale',
  apiVersion: 'autoscaling/v1',
  metadata: { name: 'web', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { replicas: 3 },
  status: { replicas: 2 },
} as unknown as KubeObject;

function printed(as: 'Table' | 'PartialObjectMetadata', query = ''): unknown {
  const negotiated = { mediaType: 'application/json', pretty: false, as } as const;
  const context = {
    negotiated,
    query: new URLSearchParams(query),
    now: Date.parse('2026-01-01T00:05:00Z'),
    messages: new ProtobufMessages(),
  };
  return JSON.parse(renderPrinted(scale, autoscaling.scaleTable as unknown as TableDefinition<KubeObject>, context).toString());
}

test('a Scale is printed with its replica counts', () => {
  expect(printed('Table', 'includeObject=None')).toMatchObject({
    kind: 'Table',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [{ name: 'Name' }, { name: 'Desired', type: 'integer' }, { name: 'Available', type: 'integer' }, { name: 'Age' }],
    rows: [{ cells: ['web', 3, 2, '5m'], object: null }],
  });
});

test('a Scale is served as PartialObjectMetadata', () => {
  expect(printed('PartialObjectMetadata')).toEqual({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: scale.metadata,
  });
});

const accepted = (form: string) => ({
  negotiated: negotiate(`application/json;as=${form};g=meta.k8s.io`),
  query: new URLSearchParams('includeObject=Everything'),
  now: 0,
  messages: new ProtobufMessages(),
});
const resource = { kind: 'Role', group: 'rbac.authorization.k8s.io', custom: false, strategy: {} } as unknown as ServedResource;
const one = { resource, object: { object: scale } } as unknown as ObjectResponse;
const many = { resource, items: [{ object: scale }], revision: 9 } as unknown as ListResponse;

test('PartialObjectMetadataList is not served for objects, nor PartialObjectMetadata for lists', () => {
  expect(() => renderObject(one, accepted('PartialObjectMetadataList;v=v1'))).toThrow(
    'you requested PartialObjectMetadataList, but the requested object is not a list (*rbac.Role)',
  );
  expect(() => renderList(many, accepted('PartialObjectMetadata;v=v1'))).toThrow(
    'you requested PartialObjectMetadata, but the requested object is a list (*rbac.RoleList)',
  );
});

test('PartialObjectMetadata of v1beta1 is served under that version', () => {
  expect(
    JSON.parse(Buffer.concat([...(renderList(many, accepted('PartialObjectMetadataList;v=v1beta1')) as TextListBody).chunks()]).toString()),
  ).toMatchObject({
    apiVersion: 'meta.k8s.io/v1beta1',
    items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1' }],
  });
});

test('metadata of an empty list has no items at all', () => {
  const empty = renderList({ ...many, items: [] } as ListResponse, accepted('PartialObjectMetadataList;v=v1')) as Buffer;
  expect(JSON.parse(empty.toString())).toEqual({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '9' },
    items: null,
  });
});

test('a table supports the values of includeObject, and rejects others', () => {
  expect(() => renderObject(one, accepted('Table;v=v1'))).toThrow(
    `Unable to convert to Table as requested: includeObject: Invalid value: "Everything": must be 'Metadata', 'Object', 'None', or empty`,
  );
});
