import { expect, test } from 'vitest';
import { NodeSelectorTerm } from './core/v1/node-selector-term.ts';
import { ServiceSpec } from './core/v1/service.ts';
import { goMap, goStruct } from './go-struct.ts';
import { ResourceClaimSpec } from './resource/v1/resource-claim-spec.ts';

test('shows every field under its name in Go, null or zero where it is unset', () => {
  expect(goStruct(NodeSelectorTerm, { matchExpressions: [{ key: 'a', operator: 'Exists' }] })).toEqual({
    MatchExpressions: [{ Key: 'a', Operator: 'Exists', Values: null }],
    MatchFields: null,
  });
});

test('knows which fields are pointers, numbers, texts and lists', () => {
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

test('prints objects within objects', () => {
  expect(JSON.stringify(goStruct(ResourceClaimSpec, { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } }))).toBe(
    '{"Devices":{"Requests":[{"Name":"r","Exactly":{"DeviceClassName":"c","Selectors":null,"AllocationMode":"","Count":0,"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":null}}',
  );
});

test('is null for nothing', () => {
  expect(goStruct(ServiceSpec, undefined)).toBeNull();
  expect(goMap(undefined)).toBeNull();
});

test('sorts maps as Go does', () => {
  expect(Object.keys(goMap({ b: 1, a: 2, B: 3 }) ?? {})).toEqual(['B', 'a', 'b']);
});
