import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, int64, kind, listOf, mapListOf, object, pointer, required, string } from '../../schema.ts';

const ResourcePoolStatusRequestSpec = object('io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestSpec', 'The pools to report.', {
  driver: required(1, string, 'The driver whose pools they are.'),
  poolName: pointer(2, string, 'One pool; all pools of the driver when absent.'),
  limit: pointer(3, int32, 'How many pools are listed at most, 1 to 1000.', { default: 100 }),
});

export const PoolStatus = object('io.k8s.api.resource.v1alpha3.PoolStatus', 'What there is in a pool.', {
  driver: field(1, string, 'The driver.', { required: true }),
  poolName: field(2, string, 'The pool.', { required: true }),
  generation: required(9, int64, 'The generation of the pool in this report.'),
  resourceSliceCount: pointer(8, int32, 'How many slices the pool has.'),
  totalDevices: pointer(4, int32, 'How many devices there are.'),
  allocatedDevices: pointer(5, int32, 'How many of them are allocated.'),
  availableDevices: pointer(6, int32, 'How many can be allocated.'),
  unavailableDevices: pointer(7, int32, 'How many cannot be allocated, though they are free.'),
  nodeName: pointer(3, string, 'The node of the pool, if it is of one.'),
  validationError: pointer(10, string, 'Why the devices could not be counted; up to 256 bytes.'),
});
export type PoolStatus = Infer<typeof PoolStatus>;

const ResourcePoolStatusRequestStatus = object('io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestStatus', 'The answer.', {
  poolCount: pointer(6, int32, 'How many pools match, listed or not.', { required: true }),
  pools: field(2, listOf(PoolStatus), 'The pools, ordered by driver and name.'),
  conditions: field(3, mapListOf(Condition, 'type'), 'Complete or Failed.', { merge: 'type' }),
});

export const ResourcePoolStatusRequest = kind(
  {
    name: 'io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequest',
    group: 'resource.k8s.io',
    version: 'v1alpha3',
    kind: 'ResourcePoolStatusRequest',
    resource: 'resourcepoolstatusrequests',
    namespaced: false,
    lifecycle: { introduced: '1.36', deprecated: '1.39', removed: '1.42' },
  },
  'A report, made once on request: the number of devices and of free devices.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata.", { required: true }),
    spec: required(2, ResourcePoolStatusRequestSpec, 'The pools to report. Immutable.'),
    status: pointer(3, ResourcePoolStatusRequestStatus, 'The answer. Cannot be changed.'),
  },
);
export type ResourcePoolStatusRequest = Infer<typeof ResourcePoolStatusRequest>;
