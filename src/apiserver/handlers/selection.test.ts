import { expect, test } from 'vitest';
import { jobsStrategy } from '../registry/batch/jobs.ts';
import { nodesStrategy } from '../registry/core/nodes.ts';
import { persistentVolumesStrategy } from '../registry/core/persistent-volumes.ts';
import { podsStrategy } from '../registry/core/pods.ts';
import { resourceSlicesStrategy } from '../registry/resource/resource-slices.ts';
import type { ResourceCall } from './resource-call.ts';
import { selectionOf } from './selection.ts';

const STRATEGIES = {
  pods: podsStrategy,
  jobs: jobsStrategy,
  nodes: nodesStrategy,
  resourceslices: resourceSlicesStrategy,
  persistentvolumes: persistentVolumesStrategy,
};

function refusal(resource: keyof typeof STRATEGIES, fieldSelector: string): string | undefined {
  const strategy = STRATEGIES[resource];
  const query = new URLSearchParams({ fieldSelector });
  const served = { strategy, namespaced: strategy.kind.namespaced };
  try {
    selectionOf({ request: { query }, resource: served, name: '' } as unknown as ResourceCall, false);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test.each<[keyof typeof STRATEGIES, string, string | undefined]>([
  ['pods', 'metadata.namespace=a,spec.host=b,status.phase!=Running', undefined],
  ['pods', 'spec.priority=1', 'field label not supported: spec.priority'],
  ['jobs', 'metadata.namespace=a,status.successful=1', undefined],
  ['jobs', 'status.active=1', 'field label "status.active" not supported for Job'],
  ['nodes', 'spec.unschedulable=true', undefined],
  ['nodes', 'metadata.namespace=a', 'field label not supported: metadata.namespace'],
  ['resourceslices', 'metadata.namespace=a', 'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: metadata.namespace'],
  ['persistentvolumes', 'metadata.namespace=a', undefined],
  ['persistentvolumes', 'spec.capacity=a', '"spec.capacity" is not a known field selector: only "metadata.name", "metadata.namespace"'],
])('%s by %s', (resource, fields, message) => {
  expect(refusal(resource, fields)).toBe(message);
});
