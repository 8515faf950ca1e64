import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, mapListOf, named, object, pointer, required, string, time } from '../../schema.ts';

export const DeviceTaint = object('io.k8s.api.resource.v1alpha3.DeviceTaint', 'Keeps claims away from a device unless they tolerate it.', {
  key: required(1, string, 'The key.'),
  value: field(2, string, 'The value that belongs to the key.'),
  effect: required(3, named('v1alpha3.DeviceTaintEffect'), 'None, NoSchedule or NoExecute.'),
  timeAdded: pointer(4, time, 'When the taint was added.'),
});
export type DeviceTaint = Infer<typeof DeviceTaint>;

export const DeviceTaintSelector = object(
  'io.k8s.api.resource.v1alpha3.DeviceTaintSelector',
  'Devices that have all of this; every device when it is empty.',
  {
    driver: pointer(2, string, 'The driver.'),
    pool: pointer(3, string, 'The pool.'),
    device: pointer(4, string, 'The name in the pool.'),
  },
);
export type DeviceTaintSelector = Infer<typeof DeviceTaintSelector>;

const DeviceTaintRuleSpec = object('io.k8s.api.resource.v1alpha3.DeviceTaintRuleSpec', 'Which devices get which taint.', {
  deviceSelector: pointer(1, DeviceTaintSelector, 'The devices; none when it is absent.'),
  taint: required(2, DeviceTaint, 'The taint.'),
});

const DeviceTaintRuleStatus = object('io.k8s.api.resource.v1alpha3.DeviceTaintRuleStatus', 'What became of the taint.', {
  conditions: field(1, mapListOf(Condition, 'type'), 'EvictionInProgress, and others; at most 8.', { merge: 'type' }),
});

export const DeviceTaintRule = kind(
  {
    name: 'io.k8s.api.resource.v1alpha3.DeviceTaintRule',
    group: 'resource.k8s.io',
    version: 'v1alpha3',
    kind: 'DeviceTaintRule',
    resource: 'devicetaintrules',
    namespaced: false,
    lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' },
  },
  'A taint that an administrator puts on devices.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, DeviceTaintRuleSpec, 'The devices, and their taint.'),
    status: always(3, DeviceTaintRuleStatus, 'What became of it.'),
  },
);
export type DeviceTaintRule = Infer<typeof DeviceTaintRule>;
