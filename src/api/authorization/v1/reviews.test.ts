import { describe, expect, test } from 'vitest';
import { defaultTokenRequest, validateTokenRequest } from '../../authentication/v1/token-request.validation.ts';
import {
  validateLocalSubjectAccessReview,
  validateSelfSubjectAccessReview,
  validateSubjectAccessReview,
} from './access-review.validation.ts';

const RESOURCE = { resourceAttributes: { namespace: 'ns', verb: 'get', resource: 'pods' } };

describe('a review of access', () => {
  test.each<[string, object, readonly string[]]>([
    ['of a user to pods', { user: 'u', ...RESOURCE }, []],
    ['of a group to a path', { groups: ['g'], nonResourceAttributes: { path: '/x', verb: 'get' } }, []],
    ['of nobody', RESOURCE, ['spec.user: Invalid value: "": at least one of user or group must be specified']],
    [
      'to nothing',
      { user: 'u' },
      ['spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified'],
    ],
    [
      'to pods and a path',
      { user: 'u', ...RESOURCE, nonResourceAttributes: { path: '/x' } },
      ['spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":""}: cannot be specified in combination with resourceAttributes'],
    ],
    [
      'to pods by a selector that is none',
      {
        user: 'u',
        resourceAttributes: {
          ...RESOURCE.resourceAttributes,
          fieldSelector: {},
          labelSelector: { rawSelector: 'a', requirements: [{ key: 'a', operator: 'In' }] },
        },
      },
      [
        'spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required',
        'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements',
        "spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
    [
      'to pods by bad requirements',
      {
        user: 'u',
        resourceAttributes: {
          ...RESOURCE.resourceAttributes,
          fieldSelector: {
            requirements: [
              { key: '', operator: 'Odd' },
              { key: 'a', operator: 'Exists', values: ['x'] },
            ],
          },
        },
      },
      [
        'spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified',
        "spec.resourceAttributes.fieldSelector.requirements[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(validateSubjectAccessReview({ metadata: {}, spec } as never).map(String)).toEqual(errors);
  });

  test('of oneself needs no user', () => {
    expect(validateSelfSubjectAccessReview({ metadata: {}, spec: RESOURCE } as never).map(String)).toEqual([]);
    expect(validateSelfSubjectAccessReview({ metadata: {}, spec: {} } as never).map(String)).toEqual([
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ]);
  });

  test('in a namespace is about that namespace', () => {
    expect(
      validateLocalSubjectAccessReview({ metadata: { namespace: 'ns' }, spec: { user: 'u', ...RESOURCE } } as never).map(String),
    ).toEqual([]);
    expect(
      validateLocalSubjectAccessReview({ metadata: { namespace: 'other' }, spec: { user: 'u', ...RESOURCE } } as never).map(String),
    ).toEqual(['spec.resourceAttributes.namespace: Invalid value: "ns": must match metadata.namespace']);
    expect(
      validateLocalSubjectAccessReview({
        metadata: { namespace: 'ns' },
        spec: { user: 'u', nonResourceAttributes: { path: '/' } },
      } as never).map(String),
    ).toEqual(['spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: disallowed on this kind of request']);
  });

  test('prints metadata in the order that upstream has it in', () => {
    const metadata = { namespace: 'ns', labels: { b: '2', a: '1' }, name: 'a' };
    expect(validateLocalSubjectAccessReview({ metadata, spec: { user: 'u', ...RESOURCE } } as never).map(String)[0]).toBe(
      'metadata: Invalid value: {"name":"a","namespace":"ns","labels":{"a":"1","b":"2"}}: must be empty except for namespace',
    );
  });

  test('has no metadata of its own', () => {
    expect(validateSubjectAccessReview({ metadata: { name: 'a' }, spec: { user: 'u', ...RESOURCE } } as never).map(String)).toEqual([
      'metadata: Invalid value: {"name":"a"}: must be empty',
    ]);
  });
});

describe('a request for a token', () => {
  test('is for an hour unless told', () => {
    expect(defaultTokenRequest({ metadata: {}, spec: { audiences: ['a'] } } as never).spec?.expirationSeconds).toBe(3600);
  });

  test.each<[string, number, readonly string[]]>([
    ['ten minutes', 600, []],
    ['less', 599, ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes']],
    [
      'far too long',
      2 ** 32 + 1,
      ['spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'],
    ],
  ])('for %s', (_, expirationSeconds, errors) => {
    expect(validateTokenRequest({ metadata: {}, spec: { audiences: ['a'], expirationSeconds } } as never).map(String)).toEqual(errors);
  });
});
