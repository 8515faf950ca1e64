import { describe, expect, it } from 'vitest';
import type { Authorizer } from '../authz/authorizer.ts';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { parseRequestInfo } from '../request/request-info.ts';
import type { UserInfo } from '../request/user.ts';
import { impersonate } from './impersonation.ts';

const OK = { type: 'raw', code: 200, contentType: '', body: '' } as const;
const ROBOT: UserInfo = { name: 'robot', groups: [] };
const POD_ON_NODE: UserInfo = {
  name: 'system:serviceaccount:ns:agent',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
};

/** An authorizer with a list of rights, as `verb group/resource/subresource name`, that records its calls. */
function allowing(...rights: readonly string[]): Authorizer & { readonly checks: string[] } {
  const checks: string[] = [];
  return {
    checks,
    authorize: ({ verb, group, resource, subresource, name, namespace, isResource, path }) => {
      const target = isResource ? `${group}/${resource}${subresource && `/${subresource}`} ${namespace && `${namespace}:`}${name}` : path;
      checks.push(`${verb} ${target}`);
      return { verdict: rights.includes(`${verb} ${target}`) ? 'allow' : 'no opinion', reason: '' };
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  };
}

interface Trial {
  readonly user?: UserInfo;
  readonly path?: string;
}

async function run(
  filter: ReturnType<typeof impersonate>,
  headers: readonly (readonly [string, string])[],
  { user = ROBOT, path = '/api/v1/pods' }: Trial = {},
) {
  const request = {
    method: 'GET',
    path,
    query: new URLSearchParams(),
    info: parseRequestInfo({ method: 'GET', path, watch: false }),
    headerLines: (prefix: string) => headers.filter(([name]) => name.startsWith(prefix)).map(([name, value]) => ({ name, value })),
    user,
  } as unknown as ApiRequest;
  const response: ApiResponse = await filter(request, () => OK);
  if (response.type === 'plain') return response.object.message;
  return request.user;
}

const as = (name: string) => [['impersonate-user', name]] as const;

describe('impersonation of old', () => {
  it('takes a right for the name, each group, the uid and each value of the extra fields', async () => {
    const authorizer = allowing(
      'impersonate /users bob',
      'impersonate /groups g1',
      'impersonate /groups g2',
      'impersonate authentication.k8s.io/uids u',
      'impersonate authentication.k8s.io/userextras/example.com/scope a',
      'impersonate authentication.k8s.io/userextras/example.com/scope b',
    );
    const headers = [
      ['impersonate-user', 'bob'],
      ['impersonate-group', 'g1'],
      ['impersonate-group', 'g2'],
      ['impersonate-uid', 'u'],
      ['impersonate-extra-example.com%2fscope', 'a'],
      ['impersonate-extra-example.com%2fscope', 'b'],
    ] as const;
    expect(await run(impersonate(authorizer), headers)).toEqual({
      name: 'bob',
      uid: 'u',
      groups: ['g1', 'g2', 'system:authenticated'],
      extra: { 'example.com/scope': ['a', 'b'] },
    });
  });

  it.each([
    [
      'system:serviceaccount:ns:sa',
      'impersonate /serviceaccounts ns:sa',
      ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    ],
    ['system:anonymous', 'impersonate /users system:anonymous', ['system:unauthenticated']],
    ['system:node:n1', 'impersonate /users system:node:n1', ['system:authenticated']],
  ])('gives %s the groups that are known to be its own', async (name, right, groups) => {
    expect(await run(impersonate(allowing(right)), as(name))).toEqual({ name, groups });
  });
});

describe('constrained impersonation', () => {
  it('takes a right to the act and one to the user', async () => {
    const act = 'impersonate-on:user-info:list /pods ';
    const being = 'impersonate:user-info authentication.k8s.io/users bob';
    expect(await run(impersonate(allowing(act, being)), as('bob'))).toEqual({ name: 'bob', groups: ['system:authenticated'] });
    expect(await run(impersonate(allowing(being)), as('bob'))).toMatch(/cannot impersonate-on:user-info:list resource "pods"/);
    expect(await run(impersonate(allowing(act)), as('bob'))).toMatch(/cannot impersonate:user-info resource "users"/);
  });

  it('makes a node what nodes are, by a right to that node', async () => {
    const authorizer = allowing('impersonate-on:arbitrary-node:list /pods ', 'impersonate:arbitrary-node authentication.k8s.io/nodes n1');
    expect(await run(impersonate(authorizer), as('system:node:n1'))).toEqual({
      name: 'system:node:n1',
      groups: ['system:nodes', 'system:authenticated'],
    });
    expect(await run(impersonate(authorizer), as('system:node:n2'))).toMatch(/cannot impersonate:arbitrary-node resource "nodes"/);
  });

  it('lets an agent be the node it runs on, by a right to any, and no other', async () => {
    const authorizer = allowing('impersonate-on:associated-node:list /pods ', 'impersonate:associated-node authentication.k8s.io/nodes *');
    const filter = impersonate(authorizer);
    expect(await run(filter, as('system:node:n1'), { user: POD_ON_NODE })).toMatchObject({
      name: 'system:node:n1',
      groups: ['system:nodes', 'system:authenticated'],
    });
    expect(await run(filter, as('system:node:n2'), { user: POD_ON_NODE })).toMatch(/cannot impersonate-on:arbitrary-node:list/);
    expect(await run(filter, as('system:node:n1'), { user: { ...POD_ON_NODE, name: 'robot' } })).toMatch(
      /cannot impersonate-on:arbitrary-node:list/,
    );
  });

  it.each([
    [
      'the group that may do everything',
      [['impersonate-group', 'system:masters']],
      'impersonating the system:masters group is not allowed',
    ],
    ['a group without a name', [['impersonate-group', '']], 'impersonating the empty string group is not allowed'],
    ['an extra field that is no name', [['impersonate-extra-a', 'x']], 'impersonating an invalid key in extra is not allowed'],
    ['an empty extra value', [['impersonate-extra-example.com%2fa', '']], 'impersonating the empty string value in extra is not allowed'],
  ] as const)('never gives %s', async (_, overrides, text) => {
    const authorizer = allowing('impersonate-on:user-info:list /pods ', 'impersonate:user-info authentication.k8s.io/users bob');
    expect(await run(impersonate(authorizer), [...as('bob'), ...overrides])).toContain(text);
  });

  it('asks for a right to all groups first, when many are wanted', async () => {
    const authorizer = allowing(
      'impersonate-on:user-info:list /pods ',
      'impersonate:user-info authentication.k8s.io/users bob',
      'impersonate:user-info authentication.k8s.io/groups *',
    );
    const groups = ['a', 'b', 'c', 'd'].map((group) => ['impersonate-group', group] as const);
    expect(await run(impersonate(authorizer), [...as('bob'), ...groups])).toMatchObject({
      groups: ['a', 'b', 'c', 'd', 'system:authenticated'],
    });
    expect(authorizer.checks).toHaveLength(3);
  });
});

describe('a user who impersonates', () => {
  it('is first asked for what worked before, and told of that when nothing does', async () => {
    const authorizer = allowing('impersonate /users bob');
    const filter = impersonate(authorizer);
    expect(await run(filter, as('eve'))).toMatch(/cannot impersonate-on:user-info:list resource "pods"/);
    await run(filter, as('bob'));
    authorizer.checks.length = 0;
    await run(filter, as('bob'));
    expect(authorizer.checks).toEqual(['impersonate /users bob']);
    expect(await run(filter, as('eve'))).toBe(
      'users "eve" is forbidden: User "robot" cannot impersonate resource "users" in API group "" at the cluster scope',
    );
  });

  it('must say whom', async () => {
    expect(await run(impersonate(allowing()), [['impersonate-extra-a', 'g']])).toBe(
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"g"}}} without impersonating a user name',
    );
    expect(await run(impersonate(allowing()), as(''))).toEqual(ROBOT);
  });
});
