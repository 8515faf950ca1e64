import { expect, it } from 'vitest';
import { negotiate, negotiateWatch } from './negotiation.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const PARTIAL = `${PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`;

it('custom resources have no form in protobuf, but their metadata has', () => {
  expect(() => negotiate(PROTOBUF, { custom: true })).toThrow(
    'only the following media types are accepted: application/json, application/yaml',
  );
  expect(negotiate(`${PROTOBUF}, application/json`, { custom: true }).mediaType).toBe('application/json');
  expect(negotiate(PARTIAL, { custom: true })).toMatchObject({ mediaType: PROTOBUF, asVersion: 'meta.k8s.io/v1' });
});

it('a watch is no YAML document', () => {
  expect(() => negotiateWatch('application/yaml')).toThrow(
    'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  );
  expect(negotiateWatch('application/json;stream=watch').mediaType).toBe('application/json');
  expect(() => negotiateWatch('application/json;stream=other')).toThrow('only the following media types are accepted');
});
