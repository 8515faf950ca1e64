import { expect, test } from 'vitest';
import { autoscaling, type TableDefinition } from '#api';
import type { KubeObject } from '../registry/kube-object.ts';
import { renderPrinted } from './render.ts';

const scale = {
  kind: 'Scale',
  apiVersion: 'autoscaling/v1',
  metadata: { name: 'web', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { replicas: 3 },
  status: { replicas: 2 },
} as unknown as KubeObject;

function printed(as: 'Table' | 'PartialObjectMetadata', query = ''): unknown {
  const negotiated = { mediaType: 'application/json', pretty: false, as } as const;
  const context = { negotiated, query: new URLSearchParams(query), now: Date.parse('2026-01-01T00:05:00Z') };
  return JSON.parse(renderPrinted(scale, autoscaling.scaleTable as unknown as TableDefinition<KubeObject>, context).toString());
}

test('a scale is printed with its sizes', () => {
  expect(printed('Table', 'includeObject=None')).toMatchObject({
    kind: 'Table',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [{ name: 'Name' }, { name: 'Desired', type: 'integer' }, { name: 'Available', type: 'integer' }, { name: 'Age' }],
    rows: [{ cells: ['web', 3, 2, '5m'], object: null }],
  });
});

test('a scale is told by its metadata', () => {
  expect(printed('PartialObjectMetadata')).toEqual({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: scale.metadata,
  });
});
