import { expect, it } from 'vitest';
import { aggregatedType, checkProducible, negotiate, negotiateAggregated, negotiateWatch, OBJECT_TYPES } from './negotiation.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const PARTIAL = `${PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`;

it('custom resources are not served as protobuf, but their metadata is', () => {
  expect(() => negotiate(PROTOBUF, { custom: true })).toThrow(
    'only the following media types are accepted: application/json, application/yaml',
  );
  expect(negotiate(`${PROTOBUF}, application/json`, { custom: true }).mediaType).toBe('application/json');
  expect(negotiate(PARTIAL, { custom: true })).toMatchObject({ mediaType: PROTOBUF, asVersion: 'meta.k8s.io/v1' });
});

it.each([
  [`${PROTOBUF},application/json`, PROTOBUF],
  [' Application/YAML , application/json', 'application/yaml'],
  ['text/html,,*/*', 'application/json'],
  ['text/html, application/json;q=0.5, application/yaml', 'application/yaml'],
])('of Accept %s the first type that is served is chosen: %s', (accept, mediaType) => {
  expect(negotiate(accept)).toEqual({ mediaType, pretty: false });
});

it.each(['text/html', ',', 'text/html,application/*'])('Accept %s names no type that is served', (accept) => {
  expect(() => negotiate(accept)).toThrow('only the following media types are accepted');
});

it('a watch is not served as YAML', () => {
  expect(() => negotiateWatch('application/yaml')).toThrow(
    'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  );
  expect(negotiateWatch('application/json;stream=watch').mediaType).toBe('application/json');
  expect(() => negotiateWatch('application/json;stream=other')).toThrow('only the following media types are accepted');
});

it.each(['text/html', 'application/*', 'APPLICATION/JSON', 'text/html;q=0.9,application/xml'])('Accept %s is rejected', (accept) => {
  expect(() => checkProducible(accept, OBJECT_TYPES)).toThrow(
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  );
});

it.each([undefined, '', '*/*;q=0.1', 'text/html, application/yaml;as=Table', PROTOBUF])('Accept %s is served', (accept) => {
  expect(() => checkProducible(accept, OBJECT_TYPES)).not.toThrow();
  expect(() => checkProducible('text/html', ['*/*'])).not.toThrow();
});

it('aggregated discovery is served if the client prefers it', () => {
  const parameters = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  expect(negotiateAggregated(`text/html,application/yaml;${parameters}`)).toBe('application/yaml');
  expect(negotiateAggregated(`application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,${PROTOBUF};${parameters}`)).toBe(
    PROTOBUF,
  );
  expect(negotiateAggregated(`application/json,application/yaml;${parameters}`)).toBeUndefined();
  expect(negotiateAggregated('application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList')).toBeUndefined();
  expect(aggregatedType(PROTOBUF)).toBe(`${PROTOBUF};${parameters}`);
});
