import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PolicyRule, type RuleRequest, ruleAllows, urlCovers } from './policy-rule.ts';
import { compactRules, ruleText, uncoveredRules } from './uncovered-rules.ts';

function resource(text: string): RuleRequest {
  const [verb = '', target = '', name = ''] = text.split(' ');
  const [group = '', path = ''] = target.includes(':') ? target.split(':') : ['', target];
  const [type = '', subresource = ''] = path.split('/');
  return { verb, isResource: true, path: '', group, version: 'v1', resource: type, subresource, namespace: '', name };
}

function url(text: string): RuleRequest {
  const [verb = '', path = ''] = text.split(' ');
  return { verb, isResource: false, path, group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };
}

describe('a rule', () => {
  const core = { apiGroups: [''], verbs: ['get'] };
  it.each<[string, PolicyRule, RuleRequest, boolean]>([
    ['allows what it names', { ...core, resources: ['pods'] }, resource('get pods'), true],
    ['allows no other verb', { ...core, resources: ['pods'] }, resource('list pods'), false],
    ['allows no other group', { ...core, resources: ['pods'] }, resource('get apps:pods'), false],
    ['does not reach subresources', { ...core, resources: ['pods'] }, resource('get pods/log'), false],
    ['for a subresource does not reach its resource', { ...core, resources: ['pods/log'] }, resource('get pods'), false],
    ['for all resources reaches subresources', { ...core, resources: ['*'] }, resource('get pods/log'), true],
    ['for one subresource of all reaches it anywhere', { ...core, resources: ['*/scale'] }, resource('get things/scale'), true],
    ['for one subresource of all reaches no other', { ...core, resources: ['*/scale'] }, resource('get things/rescale'), false],
    ['for all subresources of one grants nothing', { ...core, resources: ['pods/*'] }, resource('get pods/log'), false],
    ['for all verbs allows any', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, resource('frob x:y'), true],
    ['for a name allows that name', { ...core, resources: ['pods'], resourceNames: ['a'] }, resource('get pods a'), true],
    ['for a name allows no other', { ...core, resources: ['pods'], resourceNames: ['a'] }, resource('get pods b'), false],
    ['for a name does not allow what has none', { ...core, resources: ['pods'], resourceNames: ['a'] }, resource('get pods'), false],
    ['for resources allows no path', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, url('get /healthz'), false],
    ['for a path allows it', { nonResourceURLs: ['/healthz'], verbs: ['get'] }, url('get /healthz'), true],
    ['for a path allows none below', { nonResourceURLs: ['/healthz'], verbs: ['get'] }, url('get /healthz/ping'), false],
    ['for all paths below does not allow the path itself', { nonResourceURLs: ['/x/*'], verbs: ['get'] }, url('get /x'), false],
    ['for all paths below allows them', { nonResourceURLs: ['/x/*'], verbs: ['get'] }, url('get /x/y/z'), true],
    ['for all paths allows any', { nonResourceURLs: ['*'], verbs: ['*'] }, url('post /x'), true],
    ['for paths allows no resource', { nonResourceURLs: ['*'], verbs: ['*'] }, resource('get pods'), false],
  ])('%s', (_, rule, request, expected) => {
    expect(ruleAllows(rule, request)).toBe(expected);
  });
});

const words = (...choices: string[]) => fc.uniqueArray(fc.constantFrom(...choices), { minLength: 1, maxLength: 3 });
const anyRule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    verbs: words('get', 'list', '*'),
    apiGroups: words('', 'apps', '*'),
    resources: words('pods', 'pods/log', '*/log', '*'),
    resourceNames: fc.oneof(fc.constant([]), words('a', 'b')),
  }),
  fc.record({ verbs: words('get', 'post', '*'), nonResourceURLs: words('/a', '/a/*', '/a/b', '*') }),
);
const anyRequest: fc.Arbitrary<RuleRequest> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('get', 'list', 'other'),
      fc.constantFrom('pods', 'pods/log', 'apps:x', 'apps:x/log'),
      fc.constantFrom('a', 'b', 'c'),
    )
    .map((parts) => resource(parts.join(' '))),
  fc.tuple(fc.constantFrom('get', 'post'), fc.constantFrom('/a', '/a/b', '/c')).map((parts) => url(parts.join(' '))),
);

/** Upstream's way: a rule is the product of its lists. */
function partsOf({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): readonly PolicyRule[] {
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }));
  const forResources = apiGroups.flatMap((group) =>
    resources.flatMap((resourceName) =>
      verbs.flatMap((verb) => names.map((named) => ({ apiGroups: [group], resources: [resourceName], ...named, verbs: [verb] }))),
    ),
  );
  return [...forResources, ...nonResourceURLs.flatMap((path) => verbs.map((verb) => ({ nonResourceURLs: [path], verbs: [verb] })))];
}

function coversPart(owned: PolicyRule, part: PolicyRule): boolean {
  const hasAll = (own: readonly string[] = [], other: readonly string[] = []) =>
    own.includes('*') || other.every((value) => own.includes(value));
  const { resources = [], nonResourceURLs = [], resourceNames = [] } = owned;
  const hasResource = (resourceName: string) =>
    hasAll(resources, [resourceName]) ||
    (resourceName.includes('/') && resources.includes(`*${resourceName.slice(resourceName.indexOf('/'))}`));
  return (
    hasAll(owned.verbs, part.verbs) &&
    hasAll(owned.apiGroups, part.apiGroups) &&
    (part.resources ?? []).every(hasResource) &&
    (part.nonResourceURLs ?? []).every((path) => nonResourceURLs.some((own) => urlCovers(own, path))) &&
    (resourceNames.length === 0 || (part.resourceNames?.every((name) => resourceNames.includes(name)) ?? false))
  );
}

describe('the uncovered rules', () => {
  it('are none only if the granted rules allow every request that the others allow', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 4 }), fc.array(anyRule, { maxLength: 3 }), anyRequest, (granted, required, request) => {
        if (uncoveredRules(granted, required).length > 0) return;
        const wantedAllows = required.some((rule) => ruleAllows(rule, request));
        expect(!wantedAllows || granted.some((rule) => ruleAllows(rule, request))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('are none for equal rules', () => {
    fc.assert(fc.property(fc.array(anyRule), (rules) => void expect(uncoveredRules(rules, rules)).toEqual([])));
  });

  it('are all rules without permissions', () => {
    const rule = { apiGroups: ['', 'apps'], resources: ['a', 'b'], verbs: ['get', 'list'], resourceNames: ['x', 'y'] };
    expect(uncoveredRules([], [rule])).toHaveLength(16);
    expect(
      compactRules(uncoveredRules([], [rule]))
        .map(ruleText)
        .sort()[0],
    ).toBe('{APIGroups:[""], Resources:["a"], ResourceNames:["x"], Verbs:["get" "list"]}');
  });

  it('equal those of a pairwise comparison', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 5 }), fc.array(anyRule, { maxLength: 3 }), (owned, required) => {
        const missing = required.flatMap(partsOf).filter((part) => !owned.some((rule) => coversPart(rule, part)));
        expect(uncoveredRules(owned, required)).toEqual(missing);
      }),
      { numRuns: 2000 },
    );
  });

  const many = (prefix: string) => Array.from({ length: 20_000 }, (_, i) => `${prefix}${i}`);

  it('are found for rules with a huge product', () => {
    const rule = { apiGroups: many('g'), resources: many('r'), verbs: many('v'), resourceNames: many('n') };
    const { verbs: _, ...rest } = rule;
    expect(uncoveredRules([], [rule]).length).toBeGreaterThan(0);
    expect(uncoveredRules([rule], [rule])).toEqual([]);
    expect(uncoveredRules([{ ...rest, verbs: many('v').slice(1) }], [{ ...rule, resourceNames: [] }])).not.toEqual([]);
    expect(uncoveredRules([{ ...rest, verbs: many('v').slice(0, -1) }], [rule])[0]).toEqual({
      apiGroups: ['g0'],
      resources: ['r0'],
      resourceNames: ['n0'],
      verbs: ['v19999'],
    });
  });

  it('are listed by path for non-resource URLs', () => {
    expect(compactRules(uncoveredRules([], [{ nonResourceURLs: ['/x'], verbs: ['get', 'post'] }])).map(ruleText)).toEqual([
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["post"]}',
    ]);
  });
});
