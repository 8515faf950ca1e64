import { expect, test } from 'vitest';
import { DaemonSetUpdateStrategy } from './apps/v1/daemon-set.ts';
import { StatefulSetUpdateStrategy } from './apps/v1/stateful-set.ts';
import { NodeSelectorTerm } from './core/v1/node-selector/node-selector-term.ts';
import { PersistentVolumeSource } from './core/v1/persistent-volume/persistent-volume-spec.ts';
import { ServiceSpec } from './core/v1/service/service.ts';
import { goMap, goStruct } from './go-struct.ts';
import { LabelSelector } from './meta/v1/label-selector.ts';
import { ObjectMeta } from './meta/v1/object-meta.ts';
import { ResourceClaimSpec } from './resource/v1/resource-claim-spec.ts';

test('a Go struct has every field under its name in Go, null or zero when unset', () => {
  expect(goStruct(NodeSelectorTerm, { matchExpressions: [{ key: 'a', operator: 'Exists' }] })).toEqual({
    MatchExpressions: [{ Key: 'a', Operator: 'Exists', Values: null }],
    MatchFields: null,
  });
});

test('a Go struct distinguishes pointers, numbers, strings and lists', () => {
  expect(goStruct(ServiceSpec, { ports: [{ port: 80, targetPort: 'http' }] })).toEqual({
    Ports: [{ Name: '', Protocol: '', AppProtocol: null, Port: 80, TargetPort: 'http', NodePort: 0 }],
    Selector: null,
    ClusterIP: '',
    ClusterIPs: null,
    Type: '',
    ExternalIPs: null,
    SessionAffinity: '',
    LoadBalancerIP: '',
    LoadBalancerSourceRanges: null,
    ExternalName: '',
    ExternalTrafficPolicy: '',
    HealthCheckNodePort: 0,
    PublishNotReadyAddresses: false,
    SessionAffinityConfig: null,
    IPFamilies: null,
    IPFamilyPolicy: null,
    AllocateLoadBalancerNodePorts: null,
    LoadBalancerClass: null,
    InternalTrafficPolicy: null,
    TrafficDistribution: null,
  });
});

test('a Go struct contains nested structs', () => {
  expect(JSON.stringify(goStruct(ResourceClaimSpec, { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } }))).toBe(
    '{"Devices":{"Requests":[{"Name":"r","Exactly":{"DeviceClassName":"c","Selectors":null,"AllocationMode":"","Count":0,"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":null}}',
  );
});

test('a Go struct has zero where only the API type is a pointer', () => {
  expect(JSON.stringify(goStruct(DaemonSetUpdateStrategy, { type: 'X', rollingUpdate: { maxSurge: '5%' } }))).toBe(
    '{"Type":"X","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"5%"}}',
  );
  expect(JSON.stringify(goStruct(StatefulSetUpdateStrategy, { type: 'X', rollingUpdate: {} }))).toBe(
    '{"Type":"X","RollingUpdate":{"Partition":0,"MaxUnavailable":null}}',
  );
});

test('the Go struct of an absent object is null', () => {
  expect(goStruct(ServiceSpec, undefined)).toBeNull();
  expect(goStruct(LabelSelector, null)).toBeNull();
  expect(goMap(undefined)).toBeNull();
});

test('maps in a Go struct are sorted as in Go', () => {
  expect(Object.keys(goMap({ b: 1, a: 2, B: 3 }) ?? {})).toEqual(['B', 'a', 'b']);
});

test('types shared by all versions are printed like their JSON: in order, sorted, without empty members', () => {
  const selector = {
    matchExpressions: [{ values: ['v'], operator: 'In', key: 'k' }, { key: 'l' } as never],
    matchLabels: { b: '1', a: '2' },
  };
  expect(JSON.stringify(goStruct(LabelSelector, selector))).toBe(
    '{"matchLabels":{"a":"2","b":"1"},"matchExpressions":[{"key":"k","operator":"In","values":["v"]},{"key":"l","operator":""}]}',
  );
  expect(goStruct(LabelSelector, { matchLabels: {}, matchExpressions: [] })).toEqual({});
  const meta = { finalizers: [], annotations: { z: '1', y: '2' }, labels: { b: '1', a: '2' }, name: 'n' };
  expect(JSON.stringify(goStruct(ObjectMeta, meta))).toBe('{"name":"n","labels":{"a":"2","b":"1"},"annotations":{"y":"2","z":"1"}}');
});

test('a Go struct renames and moves fields as the internal types do', () => {
  const printed = goStruct(PersistentVolumeSource, {
    rbd: { monitors: ['m'], image: 'i', pool: 'p', user: 'u' },
    iscsi: { targetPortal: 't', iqn: 'q', lun: 0, chapAuthSession: true },
    fc: { wwids: ['w'] },
  }) as Record<string, object>;
  expect(Object.keys(printed).slice(3, 13)).toEqual([
    ...['Glusterfs', 'NFS', 'RBD', 'Quobyte', 'ISCSI', 'FlexVolume', 'Cinder', 'CephFS', 'FC', 'Flocker'],
  ]);
  expect(printed.RBD).toMatchObject({ CephMonitors: ['m'], RBDImage: 'i', RBDPool: 'p', RadosUser: 'u' });
  expect(printed.ISCSI).toMatchObject({ DiscoveryCHAPAuth: false, SessionCHAPAuth: true });
  expect(printed.FC).toMatchObject({ WWIDs: ['w'] });
});
